import random
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.storage.pages import Pages

VALUES = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(max_size=40),
    st.binary(max_size=40),
    st.integers(0, 12_000).map(lambda size: "ü" * size),  # on pages of their own
)


@settings(max_examples=40)
@given(st.lists(st.tuples(VALUES, VALUES), max_size=30), st.sampled_from((512, 4096, 65_536)))
def test_the_rows_are_those_that_sqlite_reads(rows, page_size: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.db"
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f"PRAGMA page_size = {page_size}")
            connection.execute("CREATE TABLE t (a, b)")
            connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
            connection.commit()
        found = [row for _, row in sorted(Pages(path).rows(), key=lambda one: one[0]) if len(row) == 2]
    assert found == [tuple(row) for row in rows]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A table of two thousand rows, so of pages on two levels."""
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, text)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", ((i, f"row {i} " * 20) for i in range(2000)))
        connection.commit()
    return path


def texts(path: Path) -> set[str]:
    return {str(row[1]) for _, row in Pages(path).rows() if len(row) == 2}


def test_one_broken_page_loses_its_own_rows_only(path: Path) -> None:
    whole = texts(path)
    with path.open("r+b") as file:
        file.seek(10 * 4096)
        file.write(b"\xa5" * 4096)
    left = texts(path)
    assert left < whole
    assert len(whole - left) < 30


def test_rows_have_their_ids(path: Path) -> None:
    ids = {row_id: str(row[1]).split()[1] for row_id, row in Pages(path).rows() if len(row) == 2}
    assert len(ids) == 2000
    assert all(str(row_id) == number for row_id, number in ids.items())


def test_what_was_deleted_is_not_read_again(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM t WHERE id < 1000")
        connection.commit()
    assert not any(text.startswith("row 500 ") for text in texts(path))
    assert any(text.startswith("row 1500 ") for text in texts(path))


@pytest.mark.parametrize("seed", range(20))
def test_nothing_in_a_file_can_hang_it_or_make_it_fail(path: Path, seed: int) -> None:
    chance = random.Random(seed)
    content = bytearray(path.read_bytes())
    if seed < 5:
        content = bytearray(chance.randbytes(chance.randint(0, 20_000)))
    else:
        for _ in range(200):
            content[chance.randrange(len(content))] = chance.randrange(256)
    path.write_bytes(content)
    path.with_name("x.db-wal").write_bytes(chance.randbytes(chance.randint(0, 5_000)))
    assert len(list(Pages(path).rows())) < 10_000
