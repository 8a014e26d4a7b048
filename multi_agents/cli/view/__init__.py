"""The display of a turn."""
