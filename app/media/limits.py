"""Limits on a picture or a sound and the reading of it: above what a model makes use of."""

MAX_FILE_BYTES = 50 << 20
MAX_PIXELS = 64_000_000  # of a file: they are unpacked to be made smaller
MAX_SHOWN_PIXELS = 12_000_000  # of what a model is shown
MAX_SIDES = 200  # how many times longer one side may be than the other
MAX_SOUND_S = 1800.0
MAX_SAMPLE_RATE = 384_000
MAX_CHANNELS = 16
MAX_MEMORY_BYTES = 1 << 30
MAX_CPU_S = 20
MAX_WALL_S = 60.0  # a busy machine may take long over 20 seconds of work
THUMBNAIL_SIDE = 320
SOUND_RATE = 16_000  # what nearly all projectors take
MAX_RECORDED_S = 600.0  # from the microphone
