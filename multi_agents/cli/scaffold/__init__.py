"""Writes what `new-agent` and `agents add` create: the files of a new agent, and its entries in the lists of agents."""
