"""Where pictures stand among what a message says."""

from hypothesis import given
from hypothesis import strategies as st

from app.chats.attachment import Attachment, in_words, valid_unicode
from app.chats.chat import Turn
from app.protocol.media import Media, MediaKind
from app.protocol.request import Message, Role


def media(kind: MediaKind, name: str) -> Attachment:
    return Attachment(name, "", "png", Media(kind, name * 64, b""))


A, B = media(MediaKind.PICTURE, "a"), media(MediaKind.SOUND, "b")
NOTES = Attachment("notes.txt", "text")


def asked(text: str, *attachments: Attachment) -> Message:
    (message,) = Turn(Role.USER, text, attachments=attachments).messages
    return message


def test_a_picture_stands_before_the_part_that_follows_it() -> None:
    message = asked("What?", A, NOTES, B)
    assert message.content == "File: notes.txt\n```\ntext\n```\n\nWhat?"
    assert [(one.sha256[0], message.content[one.at :]) for one in message.media] == [
        ("a", message.content),
        ("b", "What?"),
    ]


def test_the_last_one_stands_at_the_end_of_a_message_without_words() -> None:
    message = asked("", NOTES, A)
    assert message.media[0].at == len(message.content)
    assert asked("", A).content == ""


def test_only_what_is_not_taken_is_said_in_words() -> None:
    message = in_words(asked("What?", A, B), lambda one: one.kind is MediaKind.SOUND)
    assert message.content == "[A picture, which you cannot see.]\n\nWhat?"
    (kept,) = message.media
    assert (kept.kind, message.content[kept.at :]) == (MediaKind.SOUND, "What?")


@given(st.text())
def test_what_can_be_encoded_stays_as_it_is(text: str) -> None:
    assert valid_unicode(text) == text


@given(st.text(st.characters(codec=None, categories=["Cs", "L", "N"])))
def test_the_result_can_always_be_encoded(text: str) -> None:
    assert len(valid_unicode(text).encode()) >= len(text)
