"""Settings for all chats and for one, with presets and shortcuts."""
