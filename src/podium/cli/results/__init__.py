"""Commands that read tables of results: check, import, columns. It also reads FILE for all commands."""
