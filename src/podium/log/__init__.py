"""The log and its parts: event contents, pools, and numbered players."""
