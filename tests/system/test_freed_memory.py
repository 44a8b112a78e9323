"""What glibc does with memory when it was told to keep little, in a process that has no heaps yet."""

import subprocess
import sys

import pytest

from app.system import freed_memory

PROGRAM = """
import ctypes, sys, threading
from app.system.freed_memory import give_back, keep_little
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

MAPPED = """
import ctypes, sys
from app.system.freed_memory import keep_little
class Info(ctypes.Structure):
    _fields_ = [(f"field_{number}", ctypes.c_size_t) for number in range(10)]
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
libc.mallinfo2.restype = Info
keep_little()
before = libc.mallinfo2().field_4
block = libc.malloc(int(sys.argv[1]))
print(libc.mallinfo2().field_4 - before)
"""


@pytest.mark.skipif(freed_memory._libc() is None, reason="only glibc can be told")
def test_all_threads_share_two_heaps() -> None:
    def num_heaps(word: str) -> int:
        command = [sys.executable, "-c", PROGRAM, word]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
        return told.count("Arena ")

    assert num_heaps("usual") > freed_memory.NUM_HEAPS
    assert num_heaps("little") == freed_memory.NUM_HEAPS


@pytest.mark.skipif(freed_memory._libc() is None, reason="only glibc can be told")
def test_the_pixels_of_a_window_go_back_to_the_system_and_a_small_picture_stays_at_hand() -> None:
    def num_mapped_bytes(size: int) -> int:
        """Of a block of that size: in a mapping of its own."""
        command = [sys.executable, "-c", MAPPED, str(size)]
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    pixels, picture = 1280 * 800 * 4, 160 * 160 * 4
    assert num_mapped_bytes(pixels) >= pixels
    assert num_mapped_bytes(picture) == 0
