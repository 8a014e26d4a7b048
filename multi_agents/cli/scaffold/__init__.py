"""What `new-agent` and `agents add` write: names, files of a new agent, and entries in the lists of agents."""
