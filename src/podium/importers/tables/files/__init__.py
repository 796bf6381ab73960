"""Tables as they are written: delimited text, JSON, workbooks, databases and Parquet."""
