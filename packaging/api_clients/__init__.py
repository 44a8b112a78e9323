"""Drives real client libraries against `skein serve`. Start it with `./run`."""
