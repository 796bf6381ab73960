"""What lies ahead: the calendar, a race before and during, and its stakes."""
