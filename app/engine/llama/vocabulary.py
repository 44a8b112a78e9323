"""Text to tokens and back, and which tokens are special. Any thread."""

from __future__ import annotations

import ctypes
from functools import cached_property

import llama_cpp as lib
import numpy as np

from app.engine.llama.native_library import Native, array_pointer
from app.protocol.errors import EngineError
from app.protocol.media import is_media
from app.system.said import said

ATTR_UNKNOWN, ATTR_CONTROL = 1, 8  # llama_token_attr
PIECE_BYTES = 64  # longer than most tokens
MAX_PIECE_BYTES = 4096  # of what a file calls a token: it is text in prompts, answers and messages

_PieceBuffer = ctypes.c_char * PIECE_BYTES


def chat_template(model: Native, name: str = "") -> str | None:
    """The source of a chat template in the model file, of that with such a name."""
    source = lib.llama_model_chat_template(model.pointer, name.encode() if name else None)
    return source.decode("utf-8", "replace") if source else None


class Vocabulary:
    """The half of a backend that reads only the model."""

    def __init__(self, model: Native) -> None:
        self.vocab = lib.llama_model_get_vocab(model.pointer)
        self.n_vocab = int(lib.llama_vocab_n_tokens(self.vocab))
        self.bos_text = self._token_text(lib.llama_vocab_bos(self.vocab))
        self.eos_text = self._token_text(lib.llama_vocab_eos(self.vocab))

    def tokenize(self, text: str, *, parse_special: bool) -> list[int]:
        data = text.encode("utf-8", "replace")  # bytes that are not UTF-8 abort the process
        capacity = len(data) + 16
        tokens = np.empty(capacity, np.int32)
        count = lib.llama_tokenize(
            self.vocab,
            data,
            len(data),
            array_pointer(tokens, ctypes.c_int32),
            capacity,
            False,
            parse_special,
        )
        if count < 0:
            raise EngineError(
                said(
                    "llama.cpp made {tokens} tokens of {bytes} bytes of text.",
                    tokens=-count,
                    bytes=len(data),
                )
            )
        return [int(token) for token in tokens[:count]]

    def token_piece(self, token_id: int) -> bytes:
        return self._piece(token_id, special=False)

    def written_piece(self, token_id: int) -> bytes:
        """As `token_piece`, but the name of a control token."""
        return self._piece(token_id, special=True)

    def is_end_of_generation(self, token_id: int) -> bool:
        return bool(lib.llama_vocab_is_eog(self.vocab, token_id))

    def control_texts(self) -> frozenset[str]:
        return frozenset(filter(None, map(self._token_text, self.control_tokens)))

    @cached_property
    def control_tokens(self) -> frozenset[int]:
        kinds = ATTR_CONTROL | ATTR_UNKNOWN
        return frozenset(token for token in range(self.n_vocab) if self._attributes(token) & kinds)

    def leading_tokens(self) -> list[int]:
        bos = lib.llama_vocab_bos(self.vocab)
        return [bos] if lib.llama_vocab_get_add_bos(self.vocab) and bos >= 0 else []

    @cached_property
    def end_tokens(self) -> frozenset[int]:
        """All tokens that end an answer. Cached: a vocabulary of 152,000 takes a moment."""
        return frozenset(filter(self.is_end_of_generation, range(self.n_vocab)))

    def _piece(self, token_id: int, special: bool) -> bytes:
        if is_media(token_id):
            return b""
        assert 0 <= token_id < self.n_vocab  # llama.cpp ends the process for any other
        buffer = _PieceBuffer()
        length = lib.llama_token_to_piece(self.vocab, token_id, buffer, PIECE_BYTES, 0, special)
        if length < 0:
            long_buffer = ctypes.create_string_buffer(-length)
            length = lib.llama_token_to_piece(self.vocab, token_id, long_buffer, -length, 0, special)
            return long_buffer.raw[: min(length, MAX_PIECE_BYTES)]
        return buffer.raw[:length]

    def _token_text(self, token_id: int) -> str:
        return self._piece(token_id, special=True).decode("utf-8", "replace") if token_id >= 0 else ""

    def _attributes(self, token_id: int) -> int:
        return int(lib.llama_vocab_get_attr(self.vocab, token_id))
