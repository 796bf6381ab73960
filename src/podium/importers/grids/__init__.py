"""Files of any kind as grids: columns by heading and rows of cells, before a map says what they mean."""
