"""How a server may answer, given the file and where the range begins: honestly, or not."""

from __future__ import annotations

from dataclasses import replace

from tests.models.standin_hub import Answer, Lie, honest

SOURCE = b"GGUF" + bytes(range(256)) * 1000
OTHER = b"GGUF" + bytes(reversed(range(256))) * 1000


def ignores_ranges(content: bytes, _begin: int) -> Lie:
    return honest(content, 0)


def refuses_ranges(content: bytes, begin: int) -> Lie:
    return Lie(416, {"Content-Range": f"bytes */{len(content)}"}) if begin else honest(content, 0)


def becomes_another_file(content: bytes, begin: int) -> Lie:
    return honest(OTHER if begin else content, begin)


def announces_less(content: bytes, begin: int) -> Lie:
    lie = honest(content, begin)
    half = lie.body[: (len(lie.body) + 1) // 2]
    return replace(lie, headers=lie.headers | {"Content-Length": str(len(half))}, body=half)


def announces_more(content: bytes, begin: int) -> Lie:
    lie = honest(content, begin)
    return replace(
        lie, headers=lie.headers | {"Content-Length": str(len(lie.body) + 5)}, body=lie.body + b"extra"
    )


def never_ends(content: bytes, begin: int) -> Lie:
    lie = honest(content, begin)
    return replace(lie, headers={"ETag": lie.headers["ETag"]}, is_endless=True)


def flips_a_byte(content: bytes, begin: int) -> Lie:
    flipped = bytearray(content)
    flipped[len(content) // 3] ^= 1
    return honest(bytes(flipped), begin)


def cuts_each_tenth(content: bytes, begin: int) -> Lie:
    lie = honest(content, begin)
    return replace(lie, body=lie.body[: len(content) // 10], ends_early=True)


def sends_another_range(content: bytes, begin: int) -> Lie:
    return honest(content, begin // 2) if begin else honest(content, 0)


def shifts_the_bytes(content: bytes, begin: int) -> Lie:
    lie = honest(content, begin)
    return replace(lie, body=lie.body[1:] + b"x") if begin else lie


def knows_no_ranges_and_cuts(content: bytes, begin: int) -> Lie:
    whole = honest(content, 0)
    return Lie(416) if begin else replace(whole, body=whole.body[: len(content) // 2], ends_early=True)


LIES: dict[Answer, bool] = {  # whether the file can be had all the same
    honest: True,
    ignores_ranges: True,
    refuses_ranges: True,
    becomes_another_file: True,  # until it is asked again from the begin
    announces_less: True,
    announces_more: False,
    never_ends: False,
    flips_a_byte: False,
    cuts_each_tenth: True,
    sends_another_range: True,
    knows_no_ranges_and_cuts: False,
    shifts_the_bytes: True,  # the second time it is fetched whole
}
