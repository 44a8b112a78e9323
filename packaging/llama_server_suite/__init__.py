"""Runs llama-server's own test suite, unmodified, against `skein serve`. Start it with `./run`."""
