"""Every command as an action, in the menus and in the palette."""
