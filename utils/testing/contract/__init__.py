"""Parts of the agent contract: tools that misbehave on demand, and a client that keeps what it saw."""
