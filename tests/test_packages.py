"""The wheels: their metadata, their files and their long descriptions."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import numpy as np
import packages
import pytest
import release_check
import yaml

import podium

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from hatch_build import absolute_links  # noqa: E402


def test_links_of_the_long_description_are_absolute():
    text = absolute_links((ROOT / "README.md").read_text(encoding="utf-8"), "https://example.org/podium", "1.2.3")
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert len(targets) > 15
    assert [each for each in targets if not each.startswith("https://")] == []
    for each in targets:
        path = re.fullmatch(r"https://example\.org/podium/(?:blob|raw)/v1\.2\.3/([^#]+)(?:#.*)?", each)
        assert path is None or (ROOT / path[1]).exists(), each


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a](docs/b.md#c)", "[a](https://r/blob/v1/docs/b.md#c)"),
        ("![a](b.png)", "![a](https://r/raw/v1/b.png)"),
        ("[![a](b.png)](c.md)", "[![a](https://r/raw/v1/b.png)](https://r/blob/v1/c.md)"),
        ("[a](https://b.example/c) [d](#e) [f](mailto:g@h)", "[a](https://b.example/c) [d](#e) [f](mailto:g@h)"),
        ("[a\nb](c.md), x[0](1)", "[a\nb](https://r/blob/v1/c.md), x[0](https://r/blob/v1/1)"),
    ],
)
def test_relative_links_point_to_the_tag(text, expected):
    assert absolute_links(text, "https://r", "1") == expected


CLIENT = """
from podium.client import AsyncClient, Client, ClientError, SignatureError, verify_webhook
try:
    verify_webhook("whsec_AAAA", {}, b"")
except SignatureError as error:
    print(error)
"""


def test_the_two_wheels_share_no_file_and_work_separately(tmp_path):
    """Only the wheels are installed. The libraries come from this environment."""
    engine, client = packages.build(tmp_path / "dist")
    files = [set(zipfile.ZipFile(wheel).namelist()) for wheel in (engine, client)]
    assert files[0] & files[1] == set()
    assert {each.split("/")[1] for each in files[1] if each.startswith("podium/")} == {"client"}
    assert engine.name.split("-")[1] == client.name.split("-")[1] == podium.__version__
    assert {"podium/py.typed", "podium/season.csv"} <= files[0]
    assert "podium/client/py.typed" in files[1]

    python = packages.make_environment(tmp_path / "both")
    libraries = Path(np.__file__).parents[1]
    (next((tmp_path / "both").glob("lib/python*/site-packages")) / "libraries.pth").write_text(f"{libraries}\n")

    def answer(code):
        return packages.run(python, "-c", code, stdout=subprocess.PIPE, cwd=tmp_path).strip()

    packages.pip(python, "install", "--no-deps", engine, client)
    found = answer("import podium, podium.client; print(podium.__file__, podium.client.__file__)").split()
    assert all(each.startswith(str(tmp_path)) for each in found)
    assert answer(CLIENT) == "the webhook-id header is missing"
    assert answer("import podium.client as c, podium; print(issubclass(c.ClientError, podium.PodiumError))") == "True"
    packages.pip(python, "uninstall", "podium-ratings")
    hide = "import sys; sys.path.remove(LIBRARIES)".replace("LIBRARIES", repr(str(libraries)))
    assert answer(f"{hide}\n{CLIENT}") == "the webhook-id header is missing"
    packages.pip(python, "install", "--no-deps", engine)
    packages.pip(python, "uninstall", "podium-client")
    assert answer("import podium; print(podium.__version__)") == podium.__version__
    assert answer(f"{hide}\nimport podium\ntry: podium.Client\nexcept ImportError as error: print(error)") == (
        "the client needs the extra 'client': pip install 'podium-ratings[client]'"
    )


def test_the_release_check_covers_each_extra_and_the_workflow_runs_it():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {*release_check.EXTRAS} == {"", *project["optional-dependencies"]}
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))
    lines = [step.get("run", "") for step in workflow["jobs"]["build"]["steps"]]
    targets = {words[1] for words in map(str.split, lines) if words[:1] == ["make"]}
    made = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert targets == {"release-check", "packages"}
    assert targets <= {*made}
    assert workflow["jobs"]["publish"]["permissions"] == {"id-token": "write"}
