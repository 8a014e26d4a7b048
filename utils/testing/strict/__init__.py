"""Rooms of the strict provider; `utils.testing.strict_provider` is the door."""
