"""Pages for admins: send and correct results, merge players, create keys. Each change is previewed first."""
