"""Which sentences of a user state a standing rule, and which revoke one, by language. Pure."""
