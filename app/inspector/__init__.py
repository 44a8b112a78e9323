"""Shows what the engine does, from its reports. Knows only the protocol, not the engine."""
