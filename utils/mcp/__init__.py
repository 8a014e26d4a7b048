"""Tools of configured MCP servers for any agent. An agent without MCP servers does not import these modules."""
