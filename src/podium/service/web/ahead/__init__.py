"""Upcoming races: the calendar, the page of a race before and during it, and the effect of each place."""
