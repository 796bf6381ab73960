"""Upcoming races: the calendar, a race's page before and during the race, and the effect of each place."""
