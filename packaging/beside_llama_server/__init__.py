"""Compares Skein with a llama-server of the same version. Start it with `./run`."""
