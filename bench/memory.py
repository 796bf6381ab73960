"""Peak memory of a process."""

import resource
from pathlib import Path


def peak_mb() -> float:
    """Return the peak memory of this process. `ru_maxrss` on Linux includes the process that started it."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM"))
        return float(line.split()[1]) / 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
