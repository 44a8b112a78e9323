"""The models window: local models, models to download, and load settings."""
