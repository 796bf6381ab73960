"""What all rooms may use: rounding for people, files that appear whole, and what notebooks show."""
