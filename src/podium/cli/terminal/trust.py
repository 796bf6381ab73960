"""The Python files that a settings file may run: files that the user trusts, if neither file has changed since."""

import hashlib
from pathlib import Path

from podium.errors import OutputError, ParameterError
from podium.support.part_files import part_file
from podium.systems import IN_FILE


def code_in(system: str | None) -> Path | None:
    """Return the Python file named in a system's text, or None."""
    match = IN_FILE.fullmatch(system or "")
    return Path(match["file"]) if match else None


def record_of(settings: Path, code: Path) -> tuple[Path, str]:
    """Return the path of the record of trust, and the text that it contains if both files are unchanged."""
    import platformdirs

    paths = settings.resolve(), code.resolve()
    try:
        digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]
    except OSError as error:
        raise ParameterError(f"{code}: {error.strerror or error}") from None
    lines = [f"{digest}  {path}\n" for digest, path in zip(digests, paths, strict=True)]
    name = hashlib.sha256("\0".join(map(str, paths)).encode("utf-8", "surrogateescape")).hexdigest()
    return platformdirs.user_config_path("podium") / "trusted" / name, "".join(lines)


def is_trusted(settings: Path, code: Path) -> bool:
    record, text = record_of(settings, code)
    try:
        return record.read_bytes() == text.encode("utf-8", "surrogateescape")
    except OSError:
        return False


def require_trust(settings: Path | None, system: str | None, command: str) -> None:
    """Reject a system whose code a settings file names, unless the user trusts both files in their present form."""
    code = code_in(system)
    if settings is not None and code is not None and not is_trusted(settings, code):
        raise ParameterError(
            f"it names Python code, {code}, that you have not trusted, or one of the two files has"
            f" changed since you trusted it. Read {code}, then allow it with `{command}`."
        )


def trust(settings: Path, code: Path) -> None:
    record, text = record_of(settings, code)
    try:
        record.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise OutputError(
            f"{record.parent}: cannot be created ({error.strerror}). Set HOME to one of your folders."
        ) from None
    with part_file(record, OutputError, private=True) as part:
        part.write_bytes(text.encode("utf-8", "surrogateescape"))
