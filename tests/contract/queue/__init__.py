"""The contract of the queue that all replicas of an agent work on."""
