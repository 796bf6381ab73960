"""How the database is reached: tables, statements for many rows, times as whole numbers."""
