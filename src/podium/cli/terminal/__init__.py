"""Code that commands share: options, settings, tables, files and texts."""
