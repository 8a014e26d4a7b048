"""Long-term memory: what conversations taught about a user, for the user's next ones."""
