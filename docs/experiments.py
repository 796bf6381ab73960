"""Write docs/data/recovery.csv and matchmaking.csv by running the commands of their pages: `make experiments`."""

import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from podium.systems import find, names

DATA = Path(__file__).parent / "data"
PODIUM = [sys.executable, "-c", "from podium.cli import main; main()"]
SYSTEMS = [name for name in names() if not find(name).better_in_fields]  # races of the season have eight players
SEASON = "simulate -o season.parquet --skills skills.parquet --set events=5000 --set jumps=0.2 --seed 7"
RECOVER = "recovery-test season.parquet --skills skills.parquet " + " ".join(f"--system {name}" for name in SYSTEMS)
LAB = "lab matchmaking --population 50,200,1000,5000 --target 20,40,80"


def output_of(command: str, folder: Path) -> str:
    """Return what a command of Podium prints."""
    return subprocess.run(
        [*PODIUM, *shlex.split(command)], check=True, capture_output=True, text=True, cwd=folder
    ).stdout


def main() -> None:
    """Run both experiments."""
    with tempfile.TemporaryDirectory() as place:
        output_of(SEASON, Path(place))
        for name, command in (("recovery", RECOVER), ("matchmaking", LAB)):
            table = output_of(f"{command} --format csv", Path(place))
            (DATA / f"{name}.csv").write_text(table, encoding="utf-8")


if __name__ == "__main__":
    main()
