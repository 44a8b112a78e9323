"""Services of the window besides answers: models, downloads, backups, presets. Qt core, no widgets."""
