"""The page of how ratings work: pictures, questions with the answers of this pool, settings and formulas."""
