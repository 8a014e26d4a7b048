"""Tools of MCP servers on any agent, by configuration. Nothing here is imported by an agent without any."""
