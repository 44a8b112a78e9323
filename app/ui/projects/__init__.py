"""Projects in the window: their page with instructions and facts, and what a chat was told."""
