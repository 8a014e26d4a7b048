"""A GitHub for tests. Not part of the image."""
