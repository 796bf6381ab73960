"""Parts that commands share: options, settings, tables, files, texts."""
