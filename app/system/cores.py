"""How many cores this computer has. Any thread."""

import psutil


def num_physical_cores() -> int:
    """Two hardware threads of one core share what computes a model."""
    return psutil.cpu_count(logical=False) or 1
