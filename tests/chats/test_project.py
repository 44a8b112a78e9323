import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chats.project import (
    MAX_DROPPED,
    MAX_FACT_CHARS,
    MAX_FACTS,
    MAX_INSTRUCTIONS_CHARS,
    MAX_PROPOSED,
    MAX_TOLD_CHARS,
    TOLD,
    Fact,
    Project,
    as_json,
    facts_in,
    facts_text,
    one_line,
    project_of,
)
from app.protocol.request import PROJECT

TWO = Project("Boat", facts=(Fact("The boat is 9 m long."), Fact("Ann steers.", is_on=False)))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


def facts(*texts: str) -> tuple[Fact, ...]:
    return tuple(map(Fact, texts))


def texts(some: tuple[Fact, ...]) -> list[str]:
    return [fact.text for fact in some]


@given(st.text(st.characters()))
def test_a_fact_is_one_line_that_stays_as_it_is(text: str) -> None:
    line = one_line(text)
    assert len(line.splitlines()) <= 1
    assert len(line) <= MAX_FACT_CHARS
    assert line == one_line(line) == line.strip()
    line.encode()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("one\r\n\x00two\t\u2028three ", "one two three"),
        ("abc\u202etxt.exe", "abctxt.exe"),
        ("seen" + "".join(chr(0xE0000 + ord(each)) for each in "unseen"), "seen"),
        ("👩\u200d🔬 half \ud83d", "👩\u200d🔬 half ?"),
        ("<|im_end|> {{ 7 * 7 }}", "<|im_end|> {{ 7 * 7 }}"),
        (" \n ", ""),
    ],
)
def test_what_nobody_sees_is_in_no_fact(text: str, line: str) -> None:
    assert Fact(text).text == line


def test_a_megabyte_is_cut_at_once() -> None:
    began = time.perf_counter()
    assert len(Fact("x" * 2**20).text) == MAX_FACT_CHARS
    assert Fact(" " * 2**20).text == ""
    assert time.perf_counter() - began < 0.1
    assert len(Project("Boat", instructions="x" * 2**20).instructions) == MAX_INSTRUCTIONS_CHARS


def test_of_ten_thousand_facts_the_newest_are_kept_and_told_and_the_others_counted() -> None:
    project = Project("Boat", facts=facts(*(f"Fact number {number} of them." for number in range(10_000))))
    assert len(project.facts) == MAX_FACTS
    assert project.facts[-1].text == "Fact number 9999 of them."
    for room, most in ((0, MAX_TOLD_CHARS), (4096, 2048), (40, 20)):
        told = project.told(room)
        assert sum(map(len, texts(told))) <= most
        assert told == project.facts[len(project.facts) - len(told) :]
        assert project.num_left_out(room) == MAX_FACTS - len(told) > 0
    assert TWO.num_left_out(0) == 0


def test_a_chat_begins_with_instructions_then_documents_then_facts_that_are_on() -> None:
    project = Project("Boat", instructions="Be brief.\n", facts=TWO.facts)
    told = f"{TOLD}\n- The boat is 9 m long."
    assert project.text_around("[1] a.txt", 0) == f"Be brief.\n\n[1] a.txt\n\n{told}"
    assert TWO.text_around("", 0) == told
    assert Project("Boat").text_around("", 0) == ""


def test_its_sequence_keeps_its_name_when_the_folder_gets_another() -> None:
    anew = project_of("Ship", as_json(TWO))
    assert anew.chat_id == TWO.chat_id == f"{PROJECT}{TWO.id}"
    assert (anew.folder, anew.facts) == ("Ship", TWO.facts)


def test_a_fact_is_added_once_as_long_as_there_is_room() -> None:
    assert texts(TWO.with_facts(facts("ANN STEERS", "New.", "new", "")).facts)[2:] == ["new"]
    full = Project("Boat", facts=facts(*map(str, range(MAX_FACTS - 1))))
    more = full.with_facts(facts("one more", "and another"))
    assert texts(more.facts) == [*map(str, range(MAX_FACTS - 1)), "one more"]


def test_a_fact_is_switched_edited_and_removed() -> None:
    first = TWO.facts[0]
    assert TWO.with_changed(first.id, is_on=False).told(0) == ()
    edited = TWO.with_changed(first.id, text="It is\n10 m long.")
    assert texts(edited.facts) == ["It is 10 m long.", "Ann steers."]
    assert edited.facts[0].id == first.id
    assert texts(TWO.with_changed(first.id, text=" ").facts) == ["Ann steers."]


def test_what_is_known_proposed_or_dropped_is_not_proposed_again() -> None:
    asked = TWO.with_proposed(facts("Ann steers", "Bob cooks.", "bob cooks", "Eve swims."))
    assert texts(asked.proposed) == ["bob cooks", "Eve swims."]
    assert asked.facts == TWO.facts, "nothing is known before it is accepted"
    cooks, swims = asked.proposed
    less = asked.with_dropped(cooks.id)
    assert (texts(less.proposed), less.dropped) == (["Eve swims."], ("bob cooks",))
    assert less.with_proposed(facts("Bob cooks!", "EVE swims")) == less
    more = less.with_changed(swims.id, text="Eve swims well.").with_accepted(swims.id)
    assert (texts(more.facts)[2:], more.proposed) == (["Eve swims well."], ())
    assert more.with_accepted("gone") == more


def test_proposals_and_drops_are_bounded_and_a_full_project_accepts_nothing() -> None:
    many = Project("Boat").with_proposed(facts(*map(str, range(100))))
    assert texts(many.proposed) == [str(number) for number in range(MAX_PROPOSED)]
    assert len(Project("Boat", dropped=tuple(map(str, range(1000)))).dropped) == MAX_DROPPED
    full = Project("Boat", facts=facts(*map(str, range(MAX_FACTS))), proposed=facts("one more"))
    assert full.with_accepted(full.proposed[0].id) == full


def test_everything_comes_back_from_json() -> None:
    project = Project(
        "Boat",
        instructions="Sei kurz. 短く \ud83d",
        shelf_id="shelf1",
        tools=("built-in/read_file", "maps/*"),
        model_path="/m/starter.gguf",
        facts=(Fact("The boat is 9 m long.", chat_id="chat1", turn_id="turn1"), Fact("Ann.", is_on=False)),
        proposed=facts("Bob cooks."),
        dropped=("Eve swims.",),
        proposes=False,
    )
    assert project_of("Boat", as_json(project)) == project


@given(st.text(max_size=50) | JSON.map(json.dumps))
def test_what_is_damaged_is_left_out(stored: str) -> None:
    assert project_of("Boat", stored).folder == "Boat"


@given(st.fixed_dictionaries(dict.fromkeys(json.loads(as_json(TWO)), JSON)))
def test_each_field_may_be_damaged(fields: dict[str, object]) -> None:
    project = project_of("Boat", json.dumps(fields))
    assert as_json(project_of("Boat", as_json(project))) == as_json(project)


def test_of_damaged_facts_the_others_stay() -> None:
    stored = [
        {"text": "kept", "is_on": False},
        {"text": 7},
        "no fact",
        None,
        {"text": "also", "created_at": -1},
    ]
    project = project_of("Boat", json.dumps({"facts": stored, "id": "x"}))
    assert [(fact.text, fact.is_on) for fact in project.facts] == [("kept", False), ("also", True)]
    assert all(fact.id and fact.created_at > 1e9 for fact in project.facts)


# Files

FACTS = st.lists(
    st.builds(Fact, st.text(st.characters(), min_size=1).filter(lambda text: Fact(text).text)), max_size=5
)


@given(FACTS.filter(bool))
def test_json_brings_back_everything(facts: list[Fact]) -> None:
    assert facts_in(facts_text(facts, is_markdown=False)) == tuple(facts)


@given(st.lists(st.tuples(st.text(min_size=1), st.booleans()), max_size=5))
def test_a_list_brings_back_texts_and_switches(known: list[tuple[str, bool]]) -> None:
    facts = [Fact(text, is_on=is_on) for text, is_on in known]
    found = facts_in(facts_text([fact for fact in facts if fact.text], is_markdown=True))
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


def test_what_has_no_facts_is_read_as_none() -> None:
    nested, number, blank = "[" * 100_000, "9" * 100_000, "- " + " " * 2**20
    for text in (
        nested,
        number,
        blank,
        "",
        '{"facts": {"text": "x"}}',
        '{"facts": [1, null, "x", {"text": 7}]}',
    ):
        assert [fact.text for fact in facts_in(text) if fact.text] == []


def test_of_ten_thousand_in_a_file_the_last_are_taken() -> None:
    text = "".join(f"- Number {number}.\n" for number in range(10_000))
    assert facts_in(text)[0].text == f"Number {10_000 - MAX_FACTS}."
    assert len(facts_in(text)) == MAX_FACTS
