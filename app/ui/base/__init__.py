"""What the folders of the interface share: actions, notices, fields of settings, small buttons."""
