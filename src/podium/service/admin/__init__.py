"""Pages for admins, who can send and correct results, merge players and create keys. Changes are previewed first."""
