"""Recovery of model calls, tool calls and remote calls that fail, and limits on what a task may use."""
