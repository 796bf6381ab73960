"""The page that explains ratings: pictures, questions with this pool's answers, settings and formulas."""
