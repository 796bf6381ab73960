"""Commands that read tables of results: check, import, columns; and how every command reads FILE."""
