"""Tools that a model may call: those of MCP servers, and files below folders that the user named. No Qt."""
