"""Pictures that need no file and no child process."""

import hashlib

from app.chats.attachment import Attachment
from app.media.reading import Pixels
from app.protocol.media import Media, MediaKind
from tests.ui.fakes import FakeMediaFiles


def a_picture(name: str) -> Attachment:
    sha256 = hashlib.sha256(name.encode()).hexdigest()
    return Attachment(name, "", "png", Media(MediaKind.PICTURE, sha256, b"", 640, 480))


def with_pictures(*names: str) -> FakeMediaFiles:
    """They are red."""
    files = FakeMediaFiles()
    for name in names:
        media = a_picture(name).media
        assert media
        files.pictures[media.sha256] = Pixels(32, 24, b"\xff\0\0" * 32 * 24)
        files.files[media.sha256] = name.encode()
    return files
