"""The public pages as files: for any web space, or as one file to send."""
