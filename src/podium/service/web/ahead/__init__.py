"""Upcoming races: the calendar, each race's page before and during the race, and the effects of places."""
