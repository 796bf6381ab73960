"""Write docs/tuned.toml: every system's parameters tuned on a history's training part: `make tuned DATA=folder`.

Searches take an hour, so the file stores their results and `make comparison` only judges them. Stored systems are not
searched again. To repeat a search, delete its part of the file.
"""

import json
import sys
from dataclasses import fields
from pathlib import Path

from public_histories import HISTORIES
from tuned import FILE, Settings, stored, tunable

from podium.analysis.tuning import tune
from podium.engine.system import System
from podium.systems import find

HEADER = "# Parameters with the least log loss on the training part of each history: written by tune_histories.py.\n"


def changed_settings(system: System) -> Settings:
    """Return the parameters that differ from their defaults; "none" stands for a switched-off one."""
    values = {setting.name: (getattr(system, setting.name), setting.default) for setting in fields(system)}
    return {key: "none" if value is None else value for key, (value, default) in values.items() if value != default}


def as_text(histories: dict[str, dict[str, Settings]]) -> str:
    """Return the text of the file."""
    lines = [HEADER]
    for key in HISTORIES:
        for name, settings in sorted(histories.get(key, {}).items()):
            lines.append(f"[{key}.{name}]")
            lines += [f"{setting} = {json.dumps(value)}" for setting, value in settings.items()]
            lines.append("")
    return "\n".join(lines)


def tune_all(folder: Path) -> None:
    """Run the missing searches, and write the file after each one."""
    histories = stored()
    for key, history in HISTORIES.items():
        results = history.read(folder)
        for name in tunable(results):
            if name not in histories.setdefault(key, {}):
                tuning = tune(results, find(name)(), history.train_until, trials=history.trials)
                histories[key][name] = changed_settings(tuning.system)
                FILE.write_text(as_text(histories), encoding="utf-8")


if __name__ == "__main__":
    tune_all(Path(sys.argv[1]))
