"""Upcoming races with their stakes, and the stories of events: explanations and corrections."""
