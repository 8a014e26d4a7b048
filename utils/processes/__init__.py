"""Starting processes: forked from one that has imported their modules, or each with an interpreter of its own."""
