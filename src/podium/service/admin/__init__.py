"""Pages of admins: send and correct results, merge players, create keys. Each act is previewed first."""
