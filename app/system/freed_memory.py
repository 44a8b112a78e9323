"""Returns the memory of a closed model to the system, which the C library would keep.

glibc keeps what was freed for the next allocation; once a block of 30 MB was freed, it takes the next ones
from its heaps, where a small block above them holds them back: after ten models a process has twice the
memory that it uses. And it has a heap for nearly every thread: each model has a new one, which leaves some
pages in whichever it was given. Elsewhere nothing is done. Any thread.
"""

import ctypes
import sys
from functools import cache

M_MMAP_THRESHOLD, M_ARENA_MAX = -3, -8  # mallopt's numbers
# Small blocks settle in the hole that a larger one leaves, and hold its pages. Smaller ones are more often
# needed again, and a page that comes from the system costs a fault: 0.1 ms for a copy of 262,144 logits.
LARGE_BYTES = 2**18
NUM_HEAPS = 2  # for all threads: they seldom meet there, since each has small blocks at hand


@cache
def _libc() -> ctypes.CDLL | None:
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    return libc if hasattr(libc, "malloc_trim") and hasattr(libc, "mallopt") else None


def keep_little() -> None:
    """From here on a large block is given back as soon as it is freed, and threads share their heaps.

    Early in the program: once there are many heaps glibc limits them no more.
    """
    if libc := _libc():
        libc.mallopt(M_MMAP_THRESHOLD, LARGE_BYTES)
        libc.mallopt(M_ARENA_MAX, NUM_HEAPS)


def give_back() -> None:
    """What has been freed so far. Takes some milliseconds."""
    if libc := _libc():
        libc.malloc_trim(0)
