"""Realistic requests at the service with a small real language model."""
