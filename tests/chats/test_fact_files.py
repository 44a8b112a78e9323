from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chats.fact_files import (
    MAX_FILE_BYTES,
    FactsError,
    as_json,
    as_markdown,
    facts_in,
    read_facts,
    write_facts,
)
from app.chats.project import MAX_FACT_CHARS, MAX_FACTS, Fact

FACTS = st.lists(
    st.builds(Fact, st.text(st.characters(), min_size=1).filter(lambda text: Fact(text).text)), max_size=5
)


@given(FACTS.filter(bool))
def test_json_brings_back_everything(facts: list[Fact]) -> None:
    assert facts_in(as_json(facts)) == tuple(facts)


@given(st.lists(st.tuples(st.text(min_size=1), st.booleans()), max_size=5))
def test_a_list_brings_back_texts_and_switches(known: list[tuple[str, bool]]) -> None:
    facts = [Fact(text, is_on=is_on) for text, is_on in known]
    found = facts_in(as_markdown([fact for fact in facts if fact.text]))
    assert [(one.text, one.is_on) for one in found] == [(one.text, one.is_on) for one in facts if one.text]


def test_any_list_in_markdown_will_do() -> None:
    text = (
        "# What I know\n\n* The boat is 9 m long.\n  - [X] Ann steers.\n- [ ] Bob cooks.\nNo item.\n-no\n-\n"
    )
    assert [(fact.text, fact.is_on) for fact in facts_in(text)] == [
        ("The boat is 9 m long.", True),
        ("Ann steers.", True),
        ("Bob cooks.", False),
    ]


@given(st.text() | st.binary().map(lambda data: data.decode("utf-8", "replace")))
def test_any_text_can_be_read(text: str) -> None:
    assert all(fact.text for fact in facts_in(text))


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"facts": {"text": "no list"}}',
        '{"facts": [1, null, "x", {"text": ["y"]}]}',
        "9" * 100_000,
        "",
        "- " + " " * 2**20,
        "Nothing of the kind.",
    ],
)
def test_where_there_are_none_the_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "facts.json"
    path.write_text(text)
    with pytest.raises(FactsError, match=r"no facts in facts\.json"):
        read_facts(path)


def test_files_are_bounded(tmp_path: Path) -> None:
    path = tmp_path / "facts.md"
    path.write_text("".join(f"- Number {number}.\n" for number in range(10_000)))
    assert [read_facts(path)[0].text, len(read_facts(path))] == [f"Number {10_000 - MAX_FACTS}.", MAX_FACTS]
    path.write_text("- " + "x" * 2**20)
    assert len(read_facts(path)[0].text) == MAX_FACT_CHARS
    path.write_text("- x\n" * (MAX_FILE_BYTES // 4 + 1))
    with pytest.raises(FactsError, match="too large"):
        read_facts(path)


def test_a_file_is_written_whole_or_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "facts.json"
    write_facts(path, [Fact("Old.")])

    def fail(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(FactsError, match="No space left on device"):
        write_facts(path, [Fact("New.")])
    assert [fact.text for fact in read_facts(path)] == ["Old."]
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FactsError, match="could not be read"):
        read_facts(tmp_path)
