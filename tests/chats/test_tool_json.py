import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chats.tool_json import MAX_TOOLS, as_objects, as_text, rounds_of, tools_of
from app.chats.tool_use import ToolRound, ToolState, ToolUse
from app.protocol.output import Usage

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
ENDED = st.sampled_from([ToolState.DONE, ToolState.FAILED, ToolState.REFUSED, ToolState.STOPPED])
USES = st.builds(ToolUse, TEXTS, TEXTS, TEXTS, ENDED, TEXTS, st.floats(0, 1e6))
USAGES = st.builds(
    Usage, num_prompt_tokens=st.integers(0, 2**50), prompt_s=st.floats(0, 1e6), prefix_end=TEXTS
)
ROUNDS = st.builds(
    ToolRound, TEXTS, TEXTS, TEXTS, st.lists(USES, max_size=3), st.booleans(), st.floats(0, 1e6), USAGES
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
NAMES = st.sampled_from(
    [*ToolRound.__slots__, *ToolUse.__slots__, "num_prompt_tokens", "prompt_s", "prefix_end"]
)
NEARLY = st.recursive(JSON, lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner), max_leaves=20)


@given(st.lists(ROUNDS, max_size=3))
def test_rounds_come_back_as_they_were(rounds: list[ToolRound]) -> None:
    assert rounds_of(json.loads(as_text(rounds))) == rounds
    assert rounds_of(as_objects(rounds)) == rounds


@given(NEARLY)
def test_of_anything_else_only_what_is_right_is_taken(stored: object) -> None:
    rounds = rounds_of(stored)
    assert rounds_of(json.loads(as_text(rounds))) == rounds
    assert tools_of(stored) == tools_of(list(tools_of(stored)))


@pytest.mark.parametrize("state", [ToolState.WRITING, ToolState.ASKING, ToolState.RUNNING])
def test_a_call_that_had_not_ended_is_stopped(state: ToolState) -> None:
    (round_,) = rounds_of(as_objects([ToolRound("x", uses=[ToolUse("1", "look", "{}", state)])]))
    assert round_.uses[0].state is ToolState.STOPPED


def test_a_state_of_a_later_version_is_a_stopped_one() -> None:
    (round_,) = rounds_of([{"uses": [{"id": "1", "tool": "look", "state": "dreaming"}]}])
    assert round_.uses == [ToolUse("1", "look", "", ToolState.STOPPED)]


def test_what_is_told_of_a_result_lies_within_it() -> None:
    told = [{"uses": [{"result": "abc", "num_told": number} for number in (2, 3, -1, True, 0)]}]
    assert [use.num_told for use in rounds_of(told)[0].uses] == [2, None, None, None, None]


def test_a_round_that_changes_is_written_anew() -> None:
    use = ToolUse("1", "look", "{}", ToolState.RUNNING)
    rounds = [ToolRound("x", uses=[use])]
    before = as_text(rounds)
    use.state, use.result = ToolState.DONE, "Rain."
    assert as_text(rounds) != before
    assert "Rain." in as_text(rounds)


def test_tools_are_texts_each_once() -> None:
    assert tools_of(["a/b", "a/b", 7, "", "x" * 1000, "a/*"]) == ("a/b", "a/*")
    assert len(tools_of([f"a/{number}" for number in range(2 * MAX_TOOLS)])) == MAX_TOOLS
    assert tools_of({"a": 1}) == ()
