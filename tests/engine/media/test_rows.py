from hashlib import sha256

import numpy as np
import pytest

from app.engine.cells.prefix import common_prefix
from app.engine.media.rows import (
    Chunk,
    MediaPart,
    border,
    follows,
    plane_places,
    planes_in,
    position_of,
    positions_of,
    row_ids,
    runs_in,
)
from app.protocol.errors import InvalidRequestError
from app.protocol.media import Media, MediaKind, is_media


def media(name: str) -> Media:
    file = name.encode()
    return Media(MediaKind.PICTURE, sha256(file).hexdigest(), file, 10, 10)


PLANE = MediaPart((), 6, 3, width=3)  # two rows of three
LINE = MediaPart((), 5, 5)
ONE = MediaPart((), 1, 1, width=1)


def test_rows_are_negative_numbers_of_32_bits_and_depend_on_file_place_and_projector():
    ids = row_ids(media("a"), 0, LINE)
    assert all(is_media(one) and one >= -(2**31) for one in ids)
    others = [
        row_ids(media("b"), 0, LINE),
        row_ids(media("a"), 1, LINE),
        row_ids(media("a"), 0, LINE, "another projector"),
    ]
    assert all(set(ids).isdisjoint(other) for other in others)
    assert row_ids(media("a"), 0, LINE) == ids


def test_a_list_of_tokens_tells_where_parts_begin_and_what_positions_they_take():
    tokens = [
        1,
        *row_ids(media("a"), 0, PLANE),
        2,
        *row_ids(media("a"), 1, LINE),
        *row_ids(media("b"), 0, ONE),
    ]
    plane, line, one = runs_in(tokens)
    assert (plane.first, plane.num_rows, plane.num_positions, plane.is_plane) == (1, 6, 3, True)
    assert (line.first, line.num_rows, line.num_positions, line.is_plane) == (8, 5, 5, False)
    assert (one.first, one.num_rows, one.is_plane) == (13, 1, False)
    planes = planes_in(tokens)
    expected = [0, *[1] * 6, 4, 5, 6, 7, 8, 9, 10]
    assert [position_of(planes, index) for index in range(len(tokens))] == expected
    assert positions_of(planes, len(tokens)).tolist() == expected


def test_no_prefix_ends_in_the_middle_of_a_picture():
    picture = row_ids(media("a"), 0, LINE)
    prompt = [1, 2, *picture, 3, 4]
    assert [border(prompt, count) for count in range(len(prompt))] == [0, 1, 2, 2, 2, 2, 2, 7, 8]
    assert [follows(one) for one in picture] == [False, True, True, True, True]
    assert common_prefix([1, 2, *picture[:3]], prompt) == 2
    assert common_prefix([1, 2, *picture], prompt) == 7
    assert common_prefix([1, 2, *row_ids(media("b"), 0, LINE), 3], prompt) == 2


def test_rows_of_a_plane_have_one_time_and_a_place_in_it_each():
    chunk = Chunk(5, media("a"), 0, PLANE)
    assert plane_places(chunk, 7, 0, 6).tolist() == [[7] * 6, [7, 7, 7, 8, 8, 8], [7, 8, 9] * 2, [0] * 6]
    assert plane_places(chunk, 7, 4, 2).tolist() == [[7, 7], [8, 8], [8, 9], [0, 0]]
    line = Chunk(5, media("a"), 0, LINE)
    assert np.array_equal(plane_places(line, 7, 1, 2), np.tile([8, 9], (4, 1)))


def test_a_part_that_takes_too_many_positions_is_refused():
    with pytest.raises(InvalidRequestError, match="too many"):
        row_ids(media("a"), 0, MediaPart((), 20_000, 20_000))
