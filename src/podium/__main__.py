"""Run the command line with `python -m podium`."""

from podium.cli import run

if __name__ == "__main__":
    run()
