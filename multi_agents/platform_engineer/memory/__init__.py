"""The supervisor's memory of its users beyond a conversation."""
