"""The page that explains how ratings work: pictures, questions and answers for this pool, settings and formulas."""
