"""Limits on a file, its text and the time to read it: far above any document that fits a context."""

MAX_FILE_BYTES = 100 << 20
MAX_CHARS = 10_000_000
MAX_UNPACKED_BYTES = 512 << 20  # of all that is packed in one file
MAX_MEMORY_BYTES = 1 << 30
MAX_CPU_S = 20
MAX_WALL_S = 60.0  # a busy machine may take long over 20 seconds of work
