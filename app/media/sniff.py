"""What a picture or a sound is, by its first bytes, and its limits: above what a model makes use of.

Parses nothing, so any process may ask. Any thread.
"""

from app.protocol.media import MediaKind

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


HEAD_BYTES = 64
_PICTURES = (b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF8", b"II*\0", b"MM\0*")
_SOUNDS = (b"ID3", b"fLaC", b"OggS", b"FORM", b"caff", b".snd")
_HEIC_BRANDS = (b"heic", b"heix", b"mif1", b"msf1")
_PICTURE_BRANDS = (b"avif", b"avis", *_HEIC_BRANDS)
_SOUND_BRANDS = (b"M4A ", b"M4B ")
_MPEG_LAYER_3 = (0xFA, 0xFB, 0xF2, 0xF3, 0xE2, 0xE3)


def kind_of(head: bytes) -> MediaKind | None:
    """The kind of a file that begins so; None for any other. Whether it can be read is not said."""
    if head.startswith(_PICTURES) or _is_bitmap(head) or _riff(head) == b"WEBP":
        return MediaKind.PICTURE
    if head.startswith(_SOUNDS) or _riff(head) == b"WAVE" or _is_mp3(head):
        return MediaKind.SOUND
    if head[4:8] == b"ftyp":
        if head[8:12] in _PICTURE_BRANDS:
            return MediaKind.PICTURE
        return MediaKind.SOUND if head[8:12] in _SOUND_BRANDS else None
    return None


def is_heic(head: bytes) -> bool:
    """A picture of a kind that cannot be read."""
    return head[4:8] == b"ftyp" and head[8:12] in _HEIC_BRANDS


def _riff(head: bytes) -> bytes:
    return head[8:12] if head.startswith(b"RIFF") else b""


def _is_bitmap(head: bytes) -> bool:
    return head.startswith(b"BM") and b"\0" in head[:26]  # else it is a text that begins so


def _is_mp3(head: bytes) -> bool:
    return len(head) > 2 and head[0] == 0xFF and head[1] in _MPEG_LAYER_3
