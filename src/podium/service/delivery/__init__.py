"""What happens in pools, on its way to who wants to know: watchers of the log, and webhooks."""
