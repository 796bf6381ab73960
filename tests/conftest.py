"""What all tests share: Hypothesis profiles, and the reference files that live beside the repository."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("dev", max_examples=40, deadline=None, suppress_health_check=slow)
settings.register_profile("ci", max_examples=100, deadline=None, suppress_health_check=slow, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

BESIDE = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture
def shared():
    """Find a reference file; without it a test fails in CI, and skips elsewhere."""

    def find(name: str) -> Path:
        path = Path(os.environ.get("PODIUM_SHARED", BESIDE)) / name
        if not path.exists():
            if os.environ.get("CI"):
                pytest.fail(f"{path} is missing")
            pytest.skip(f"{path} is not on this machine")
        return path

    return find
