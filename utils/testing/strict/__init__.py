"""Implementation of the strict provider; import `utils.testing.strict_provider`."""
