"""What the supervisor remembers of its users beyond a conversation."""
