"""Parts of web pages and reports: formatted numbers, pictures and tables."""
