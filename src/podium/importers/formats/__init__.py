"""The formats of other programs, each in its own module or declared in a TOML file."""
