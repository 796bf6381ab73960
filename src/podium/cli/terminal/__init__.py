"""What commands share: options, settings, tables, files, texts."""
