"""What glibc does with memory when it was told to keep little, in a process that has no heaps yet."""

import subprocess
import sys

import pytest

from app.engine import freed_memory

PROGRAM = """
import ctypes, sys, threading
from app.engine.freed_memory import give_back, keep_little
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
if sys.argv[1] == "little":
    keep_little()
all_there = threading.Barrier(6)
def use_a_heap():
    blocks = [libc.malloc(3000) for _ in range(2000)]
    all_there.wait()
    for block in blocks[:-1]:
        libc.free(block)
threads = [threading.Thread(target=use_a_heap) for _ in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
give_back()
libc.malloc_stats()
"""


@pytest.mark.skipif(freed_memory._libc() is None, reason="only glibc can be told")
def test_all_threads_share_two_heaps() -> None:
    def num_heaps(word: str) -> int:
        command = [sys.executable, "-c", PROGRAM, word]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
        return told.count("Arena ")

    assert num_heaps("usual") > freed_memory.NUM_HEAPS
    assert num_heaps("little") == freed_memory.NUM_HEAPS
