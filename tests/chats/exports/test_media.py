import pytest

from app.chats.attachment import Attachment
from app.chats.exports.spoken import data_url, media_file_name
from app.protocol.media import Media, MediaKind


def attached(name: str, kind: str) -> Attachment:
    return Attachment(name, "", kind, Media(MediaKind.PICTURE, "ab" * 32, b"file"))


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("cat.png", "png", "cat.png"),
        ("Pasted picture", "png", "Pasted picture.png"),
        ("photo.JPEG", "jpeg", "photo.JPEG"),
        ("photo.png", "jpeg", "photo.jpg"),
        ("../../.ssh/key", "png", "key.png"),
        ("cat", "/../evil", "cat.bin"),
    ],
)
def test_a_file_is_called_as_it_was_with_the_ending_of_what_it_is(
    name: str, kind: str, expected: str
) -> None:
    assert media_file_name(attached(name, kind)) == expected


def test_a_type_that_nobody_knows_is_not_written_into_a_page() -> None:
    assert data_url(attached("cat", "png")) == "data:image/png;base64,ZmlsZQ=="
    assert data_url(attached("cat", '"><script>')).startswith("data:application/octet-stream;")
