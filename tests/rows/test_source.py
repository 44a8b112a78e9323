"""Tables of all kinds, and what is wrong with them, row by row."""

import itertools
import tracemalloc

import pytest
from openpyxl import Workbook

from app.protocol.errors import InvalidRequestError
from app.rows.source import MAX_ROW_CHARS, open_source, unique_names, with_text


def read(path) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    source = open_source(path)
    return source.columns, [row.values for row in source.rows()]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", 'name,text\nAnn,"a, b\nc"\nBob,\n'),
        ("a.csv", 'name;text\r\nAnn;"a, b\nc"\r\nBob\r\n'),
        ("a.tsv", 'name\ttext\nAnn\t"a, b\nc"\n\nBob\t\n'),
        ("a.jsonl", '{"name": "Ann", "text": "a, b\\nc"}\n\n{"name": "Bob", "text": null}\n'),
    ],
)
def test_each_kind_of_table_has_the_same_rows(tmp_path, name, text) -> None:
    path = tmp_path / name
    path.write_text(text, newline="")
    assert read(path) == (("name", "text"), [("Ann", "a, b\nc"), ("Bob", "")])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings(tmp_path, encoding) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("größe,ort\nweiß,Köln\n".encode(encoding))
    assert read(path) == (("größe", "ort"), [("weiß", "Köln")])


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("gb18030", "编号,内容\n一,今天天气很好，我们去公园散步吧。\n二,这台收音机坏了，请尽快修理。\n"),
        ("cp1251", "номер,текст\nодин,Сегодня хорошая погода, идём гулять в парк.\nдва,Радио сломалось.\n"),
    ],
)
def test_code_pages_of_other_scripts_are_told_by_their_text(tmp_path, encoding, text) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode(encoding))
    columns, _ = read(path)
    assert columns == tuple(text.split("\n")[0].split(","))


def test_encodings_can_be_mixed_in_a_file(tmp_path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"a\n" + "größe\n".encode() + "größe\n".encode("cp1252"))
    assert read(path)[1] == [("größe",), ("größe",)]


def test_the_first_sheet_of_a_workbook(tmp_path) -> None:
    book = Workbook()
    assert book.active is not None
    for row in (["name", "text"], ["Ann", "a, b\n\nc"], ["Bob", 3], ["=1+1", None]):
        book.active.append(row)
    book.create_sheet("Other").append(["not", "these", "three"])
    book.save(tmp_path / "a.xlsx")
    rows = [("Ann", "a, b\n\nc"), ("Bob", "3"), ("=1+1", "")]
    assert read(tmp_path / "a.xlsx") == (("name", "text"), rows)


def test_nested_values_are_json(tmp_path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": {"b": [1, "\\ud800"]}, "c": 1.5}\n{"d": true}\n')
    assert read(path) == (("a", "c", "d"), [('{"b":[1,"?"]}', "1.5", ""), ("", "", "true")])


def test_files_of_a_folder_are_read_when_they_are_needed(tmp_path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "b.txt").write_text("B")
    (tmp_path / "sub" / "a.txt").write_text("A")
    (tmp_path / ".hidden").write_text("no")
    source = open_source(tmp_path)
    rows = list(source.rows())
    assert [row.values for row in rows] == [("b.txt",), ("sub/a.txt",)]
    assert with_text(tmp_path, rows[1].values, source.columns) == ("sub/a.txt", "A")
    (tmp_path / "b.txt").write_text("changed")
    assert open_source(tmp_path).stamp != source.stamp
    assert next(open_source(tmp_path).rows()).version != rows[0].version
    (tmp_path / "b.txt").unlink()
    with pytest.raises(InvalidRequestError, match=r"b\.txt"):
        with_text(tmp_path, rows[0].values, source.columns)


def test_names_of_columns_are_made_unique() -> None:
    assert unique_names(["a", "", " a ", "a (2)"]) == ("a", "column 2", "a (2)", "a (2) (2)")


def test_what_is_wrong_with_a_row_is_told_with_it(tmp_path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"a,b\n1,2,3\n{'x' * (MAX_ROW_CHARS + 1)}\n1,2,,\n1,2\n")
    rows = list(open_source(path).rows())
    assert [row.error for row in rows] == [
        "This row has 3 cells, and the table 2 columns.",
        "This row is longer than 1,048,576 characters, or a quote in it has no end.",
        "",
        "",
    ]
    assert [row.values for row in rows[2:]] == [("1", "2"), ("1", "2")]
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"a": 1}\n[1]\nno\n' + "[" * 100_000 + f'\n{{"a": "{"x" * MAX_ROW_CHARS}"}}\n{{"a": 2}}\n'
    )
    rows = list(open_source(path).rows())
    assert [bool(row.error) for row in rows] == [False, True, True, True, True, False]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "has no columns"),
        ("a.csv", b"x," * 2_000 + b"\n", "has 2,001 columns, and 1,000 are the most"),
        ("a.csv", b"x," * 1_000_000 + b"\n", "The first row of “a.csv” is too long"),
        ("a.csv", b"x" * 2_000_000 + b",y\n", "The first row of “a.csv” is too long"),
        ("a.csv", b"a,b\0\n", "is no table"),
        ("a.jsonl", b"[1]\n", "has no columns"),
        ("a.xlsx", b"PK\3\4", "cannot be read"),
    ],
)
def test_what_is_no_table_is_said_so(tmp_path, name, content, message) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InvalidRequestError, match=message):
        open_source(path)


def test_a_file_that_is_missing_is_said_so(tmp_path) -> None:
    with pytest.raises(InvalidRequestError, match="no longer exists"):
        open_source(tmp_path / "a.csv")


@pytest.mark.parametrize(("line", "num_rows"), [("x" * 1000, 1), ("x" * 1000 + "\n", 1_000)])
def test_memory_stays_level_whatever_a_file_has(tmp_path, line, num_rows) -> None:
    """One line without an end; then a quote without an end, behind which the next rows are read."""
    path = tmp_path / "a.csv"
    with path.open("w") as file:
        file.write('a\n"begun: ')
        file.writelines(itertools.repeat(line, 40_000))
    tracemalloc.start()
    try:
        rows = [bool(row.error) for row in open_source(path).rows()]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert rows[0]
    assert len(rows) >= num_rows
    assert not any(rows[1:])
    assert peak < 20 * MAX_ROW_CHARS
