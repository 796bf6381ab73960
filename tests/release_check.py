"""Build the packages, install each with each extra in an empty environment, run its commands, and uninstall it.

python tests/release_check.py
"""

import json
import re
import subprocess
import sys
import tempfile
import zipfile
from email import message_from_bytes
from pathlib import Path

from packages import ROOT, UV, build, make_environment, pip, run
from test_dependencies import BARE, LINES, SHEET, refuse_crashes

# Commands or Python code for the environment of each extra, in addition to the commands without extras.
EXTRAS = {
    "": [("demo",), *LINES],
    "service": [
        ("site", "r.csv", "-s", "elo", "-o", "web"),
        ("report", "r.csv", "-s", "elo", "-o", "r.html"),
        ("pool", "create", "main", "-s", "elo"),
        ("ingest", "r.csv", "--pool", "main"),
        ("verify",),
    ],
    "tune": [("tune", "r.csv", "-s", "elo", "--train-until", "60%")],
    "charts": [("plot", "remoteness", "-o", "p.svg"), ("plot", "remoteness", "-o", "p.png")],
    "excel": [("import", "r.csv", "-o", "t.xlsx"), ("check", "t.xlsx")],
    "zstd": [("rate", "r.csv.zst", "-s", "elo")],
    "sklearn": "import podium.sklearn",
    "client": "import podium; podium.Client('http://127.0.0.1:9', 'key').close()",
}


def say(text):
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def check_metadata(wheel):
    """Fail if the long description has a link that does not work on a package index."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [each for each in archive.namelist() if each.endswith("METADATA")]
        metadata = message_from_bytes(archive.read(name))
    targets = re.findall(r"\]\(([^)]+)\)", str(metadata.get_payload()))
    relative = [each for each in targets if not each.startswith(("https://", "http://"))]
    assert targets, wheel
    assert relative == [], (wheel, relative)
    say(f"{metadata['Name']} {metadata['Version']}: {len(targets)} links, {wheel.stat().st_size / 1e6:.2f} MB")


def check_extra(folder, wheel, extra, dist):
    """Install a wheel with an extra, run the extra's functions, and uninstall it."""
    python, home = make_environment(folder / "environment"), folder / "home"
    home.mkdir()
    (home / "r.csv").write_text(SHEET, encoding="utf-8")
    pip(python, "install", "--find-links", dist, f"{wheel}[{extra}]" if extra else wheel)
    size = sum(each.stat().st_size for each in (folder / "environment").rglob("*") if each.is_file())
    if extra == "zstd":
        code = "import zstandard as z; open('r.csv.zst', 'wb').write(z.compress(open('r.csv', 'rb').read()))"
        run(python, "-c", code, cwd=home)
    todo = EXTRAS[extra]
    if isinstance(todo, str):
        run(python, "-c", todo, cwd=home)
    else:
        done = run(python, "-c", BARE, "[]", json.dumps(todo), cwd=home, stdout=subprocess.PIPE)
        ends = json.loads(done)
        if extra:
            assert {status or 0 for status, _ in ends} == {0}, ends
        refuse_crashes(todo, ends)
    pip(python, "uninstall", wheel.name.split("-")[0])
    left = [each for each in (folder / "environment").rglob("podium/**/*.py") if "client" not in each.parts]
    assert left == []
    say(f"podium-ratings[{extra}]: {size / 1e6:.0f} MB, works")


def check_client(folder, wheel):
    """Install the client alone, use it, and uninstall it."""
    python = make_environment(folder / "environment")
    pip(python, "install", wheel)
    run(python, "-c", "from podium.client import Client; Client('http://127.0.0.1:9', 'key').close()", cwd=folder)
    pip(python, "uninstall", "podium-client")
    say("podium-client: works")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder, dist = Path(name), Path(name) / "dist"
        engine, client = build(dist)
        run(
            UV,
            "build",
            "--quiet",
            "--sdist",
            "--no-build-isolation",
            "--python",
            sys.executable,
            "--out-dir",
            dist,
            ROOT,
        )
        run(UV, "tool", "run", "--quiet", "twine", "check", "--strict", *dist.glob("podium*"))
        check_metadata(engine)
        check_metadata(client)
        for extra in EXTRAS:
            (folder / f"extra-{extra}").mkdir()
            check_extra(folder / f"extra-{extra}", engine, extra, dist)
        (folder / "client").mkdir()
        check_client(folder / "client", client)
    say("all packages work")


if __name__ == "__main__":
    main()
