"""Gives the memory of a model that was closed back to the system, where the C library would rather keep it.

glibc keeps what was freed for the next allocation; once a block of 30 MB was freed, it takes the next ones
from its heaps, where a small block above them holds them back: after ten models a process has twice the
memory that it uses. Elsewhere nothing is done. Any thread.
"""

import ctypes
import sys
from functools import cache

M_MMAP_THRESHOLD = -3  # mallopt's number
# Far above what one step of the engine allocates: a page that comes from the system costs a fault.
LARGE_BYTES = 4 * 2**20


@cache
def _libc() -> ctypes.CDLL | None:
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    return libc if hasattr(libc, "malloc_trim") and hasattr(libc, "mallopt") else None


def keep_large_blocks_apart() -> None:
    """From here on each is given back as soon as it is freed."""
    if libc := _libc():
        libc.mallopt(M_MMAP_THRESHOLD, LARGE_BYTES)


def give_back() -> None:
    """What has been freed so far. Takes some milliseconds."""
    if libc := _libc():
        libc.malloc_trim(0)
