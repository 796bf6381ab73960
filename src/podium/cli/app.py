"""The command line as a whole. Nothing heavy is imported before a command runs."""

from podium.cli.commands import build

app = build()
