"""Upcoming races: the calendar, a race before and during it, and the effect of each place."""
