"""What can be chosen, for all and for one chat, with presets and shortcuts."""
