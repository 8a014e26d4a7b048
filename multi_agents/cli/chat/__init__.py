"""The conversation between a person and an agent."""
