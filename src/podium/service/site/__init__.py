"""The public pages, as files for any web host, or as one file that can be sent."""
