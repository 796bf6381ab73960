"""Shared parts of commands: options, settings, tables, files, texts."""
