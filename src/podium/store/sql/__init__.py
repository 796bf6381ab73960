"""Access to the database: tables, statements for many rows, times as whole numbers."""
