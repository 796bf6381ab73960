"""The public pages as files for any web host, or as one file to send."""
