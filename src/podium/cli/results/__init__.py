"""Commands that read tables of results: check, import, columns. Also the reading of FILE for all commands."""
