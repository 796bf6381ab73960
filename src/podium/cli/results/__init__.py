"""Commands that read tables of results (check, import, columns), and the code that reads FILE for all commands."""
