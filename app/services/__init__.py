"""What windows ask for besides answers: models, downloads, backups, presets. Qt core, no widgets."""
