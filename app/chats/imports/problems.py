"""Problems of an imported file, or of one chat in it. Any thread."""

from dataclasses import dataclass

from app.system.said import said


@dataclass(frozen=True, slots=True)
class Problem:
    """`entry` is the chat's number in the file, from 1; 0: the file. `reason` is one or two sentences."""

    file: str
    entry: int
    title: str
    reason: str


class BadChatError(Exception):
    """This chat, or this file, cannot be taken; `reason` says why and what to do."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class NoChatsError(BadChatError):
    """The file contains no chats."""


def bad_value(name: str) -> BadChatError:
    return BadChatError(said("Its “{name}” is not supported.", name=name))


def no_chats() -> NoChatsError:
    return NoChatsError(
        said("No chats found. Choose an export from Skein, ChatGPT, Open WebUI, LM Studio, Jan or llama.cpp.")
    )


def no_messages() -> BadChatError:
    return BadChatError(said("It contains no messages."))


def too_large(limit_mb: int) -> BadChatError:
    return BadChatError(said("It is larger than {size} MB. Export fewer chats at a time.", size=limit_mb))


def not_readable(error: OSError) -> BadChatError:
    return BadChatError(
        said("It cannot be read: {reason}. Check its permissions.", reason=error.strerror or str(error))
    )
