"""What a shell may complete: names of systems, formats, charts and columns."""

from podium.cli.terminal.show import Format
from podium.importers.registry import FORMATS
from podium.results.column_guide import COLUMNS


def complete_system(incomplete: str) -> list[str]:
    """Podium's own systems."""
    from podium.systems import names

    return [name for name in names() if name.startswith(incomplete)]


def complete_format(incomplete: str) -> list[str]:
    """The formats of files."""
    return [name for name in FORMATS if name.startswith(incomplete)]


def complete_shape_or_format(incomplete: str) -> list[str]:
    """What a command can print, and the formats of files."""
    return [name for name in (*Format, *FORMATS) if name.startswith(incomplete)]


def complete_column(incomplete: str) -> list[str]:
    """The columns of a results table."""
    return [column.name for column in COLUMNS if column.name.startswith(incomplete)]
