"""The pages of admins: results are sent and corrected, players merged, keys created; each act is looked at first."""
