"""Who looks: the bearer of a key, who may have signed in with it in a browser, or anybody where a pool is public."""
