"""The page that explains how ratings work: pictures, questions answered for this pool, settings and formulas."""
