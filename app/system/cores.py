"""How many cores this computer has. Any thread."""

import psutil


def num_physical_cores() -> int:
    """Hardware threads of one core share its arithmetic units."""
    return psutil.cpu_count(logical=False) or 1
