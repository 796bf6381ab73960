"""Commands that read results tables (check, import, columns), and the code that reads FILE for all commands."""
