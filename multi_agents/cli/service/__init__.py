"""The local service: the supervisor and its local agents, each a process on its own loopback port."""
