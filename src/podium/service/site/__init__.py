"""The public pages, as files for any web host, or as a single file to send."""
