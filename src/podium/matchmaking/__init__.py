"""Who plays whom: groups from those who wait, even teams, and a laboratory for policies."""
