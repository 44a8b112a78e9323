"""The gate to llama.cpp: the only folder that imports `llama_cpp`, and only its low-level C API."""

import os

# How often a worker looks for the next operation before it sleeps; libgomp reads it when llama.cpp is loaded.
# Its own default is to spin for 300,000 rounds, so that beside one busy process a token of a 0.6B model took
# 220 ms (one in ten took 3 s) on two cores. With 1,000 it took 49, and 23 instead of 22 on a quiet machine.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
