"""What people look at: numbers as they are read, pictures, and the parts that web pages and reports are made of."""
