"""Display: formatted numbers, pictures, and the parts of web pages and reports."""
