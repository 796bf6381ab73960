"""The most memory that a process had."""

import resource
from pathlib import Path


def peak_mb() -> float:
    """The most memory that this process had; Linux counts in `ru_maxrss` what the process had that began it, too."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM"))
        return float(line.split()[1]) / 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
