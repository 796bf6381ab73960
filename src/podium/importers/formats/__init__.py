"""One foreign format a file."""
