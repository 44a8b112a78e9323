"""What a session cost, on prompts in which each byte is a token."""

import json
from array import array
from dataclasses import replace

import pytest

from app.inspector.recording import JournalEntry, LeasedPrompt
from app.inspector.session_costs import Parting, advice_on, as_json, costs_of, never_called
from app.protocol.output import PrefixEnd
from app.protocol.report import Lease, Section, SectionKind

TEXTS = {byte: bytes([byte]) for byte in range(256)}
PROGRAM = "127.0.0.1 agent/1"
KINDS = {"S": SectionKind.SYSTEM, "T": SectionKind.TOOL, "U": SectionKind.USER, "A": SectionKind.ANSWER}
LONG = "Rules are rules. " * 30

Piece = tuple[str, str, str]  # kind, name, text


def leased(*pieces: Piece, had: int = 0, prefix_end: PrefixEnd = PrefixEnd.NEW_CHAT) -> LeasedPrompt:
    text, sections = b"", []
    for kind, name, piece in pieces:
        sections.append(Section(KINDS[kind], len(text), len(text) + len(piece.encode()), name))
        text += piece.encode()
    lease = Lease("r", "api-1", 0, 0, had, 0, 0, len(text) - had, prefix_end, caller=PROGRAM)
    prompt = LeasedPrompt(lease_of(lease, text, sections))
    prompt.num_computed, prompt.decode_ms = len(text) - had, 100.0
    return prompt


def lease_of(lease: Lease, text: bytes, sections: list[Section]) -> Lease:

    return replace(lease, prompt_bytes=array("i", list(text)).tobytes(), sections=tuple(sections))


def costs(*prompts: LeasedPrompt):
    return costs_of([JournalEntry(at, 0.0, one) for at, one in enumerate(prompts)], PROGRAM, TEXTS)


def tool(name: str) -> Piece:
    return "T", name, f"{name}: " + "describes what it does. " * 20


def test_a_session_that_goes_on_needs_no_advice():
    first = (("S", "", LONG), ("U", "", "Hello"))
    told = costs(leased(*first), leased(*first, ("A", "", "Hi"), ("U", "", "Bye"), had=len(LONG) + 5))
    assert [one.place.parting for one in told] == [Parting.FIRST, Parting.GOES_ON]
    assert [part.num_computed for part in told[1].parts] == [0, 0, 2, 3]
    assert advice_on(told) == ""


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        (("Now it is 12:01.", "Now it is 12:02."), "the time of day"),
        (("Today is 2026-11-29.", "Today is 2026-11-30."), "the date"),
        (("Request 7", "Request 8"), "a number that changes"),
        (("The mood is fine.", "The mood is foul."), "a text that changes"),
        (("Open 08:00 to 17:00 for Anna", "Open 08:00 to 17:00 for Bert"), "a text that changes"),
        (("The guest is bea.", "The guest is ed."), "a text that changes"),
    ],
)
def test_a_line_that_changes_is_named_with_what_it_holds(lines, what):
    told = costs(
        *(leased(("S", "", f"Be brief.\n\n{line}\n{LONG}"), ("U", "", "Hello"), had=11) for line in lines)
    )
    assert told[1].head == f"System prompt, line 3: {what}"
    num_again = told[1].num_again
    assert len(LONG) < num_again <= told[1].prompt.num_computed
    assert advice_on(told) == (
        f"{num_again:,} tokens were computed again in 1 of 2 requests: "
        f"line 3 of the system prompt holds {what}. "
        "Put it at the end of the last message."
    )


def test_tools_in_another_order_are_told_from_other_tools():
    orders = ["read", "write"], ["write", "read"], ["write"]
    told = costs(
        *(leased(("S", "", "Be brief."), *map(tool, one), ("U", "", "Hello"), had=9) for one in orders)
    )
    assert [one.place.parting for one in told] == [Parting.FIRST, Parting.TOOLS_MOVED, Parting.TOOLS]
    assert "the tools came in another order. Send them in the same order each time." in advice_on(told[:2])


def test_an_order_that_comes_back_is_not_what_took_its_cells():
    """Behind the last tool the template has more to say."""
    orders = ["read", "write"], ["write", "read"], ["read", "write"]
    told = costs(
        *(
            leased(
                ("S", "", LONG),
                tool(first),
                ("T", last, f"{tool(last)[2]} Call them as you like."),
                ("U", "", "Hello, what is in the file?"),
                had=len(LONG),
                prefix_end=PrefixEnd.TOOLS,
            )
            for first, last in orders
        )
    )
    assert [one.place.parting for one in told] == [Parting.FIRST, Parting.TOOLS_MOVED, Parting.TOOLS_MOVED]
    assert told[2].prompt.num_computed - len(" Call them as you like.") == told[2].num_again
    assert "Send them in the same order each time." in advice_on(told)


def test_a_tool_that_is_described_in_other_words_is_named():
    told = costs(
        *(
            leased(("S", "", "Be brief."), ("T", "read", f"read: at {one}"), ("U", "", LONG), had=9)
            for one in "ab"
        )
    )
    assert told[1].head == "The tool read is described in other words"
    assert told[1].num_again == len(LONG)


def test_questions_that_have_nothing_to_do_with_each_other_cost_nothing_in_vain():
    told = costs(
        leased(("S", "", "Sort this mail."), ("U", "", "It broke. " * 40)),
        *(
            leased(("S", "", "Sort this mail."), ("U", "", f"{one} " * 100), had=15)
            for one in ("Thanks", "When?")
        ),
    )
    assert [one.place.parting for one in told] == [Parting.FIRST, Parting.OTHER, Parting.OTHER]
    assert [one.num_again for one in told] == [0, 0, 0]
    assert advice_on(told) == ""


def test_the_same_prompt_again_is_told_so():
    pieces = (("S", "", LONG), ("U", "", "Hello"))
    told = costs(leased(*pieces), leased(*pieces, had=len(LONG) + 4))
    assert told[1].place.parting is Parting.SAME


def test_an_edited_message_and_cells_that_were_given_up():
    rest = (("A", "", "Fine. " * 40), ("U", "", "And now?"))
    first = (("S", "", LONG), ("U", "", "Hello, you there, how is the day?"), *rest)
    edited = (("S", "", LONG), ("U", "", "Something else, if you please, now"), *rest)
    told = costs(
        leased(*first), leased(*edited, had=len(LONG)), leased(*edited, prefix_end=PrefixEnd.EVICTED)
    )
    assert [one.place.parting for one in told] == [Parting.FIRST, Parting.MESSAGE, Parting.NOT_HELD]
    assert told[1].num_again >= len(rest[0][2])
    assert "Its cells were freed" in told[2].head
    assert advice_on(told).endswith("their cells had been given up. Use a larger context or more slots.")


def test_requests_of_a_helper_in_between_do_not_part_a_chat():
    chat, helper = ("S", "", LONG), ("S", "", "You name chats.")
    told = costs(
        leased(chat, ("U", "", "Hello")),
        leased(helper, ("U", "", "Hello")),
        leased(chat, ("U", "", "Hello"), ("A", "", "Hi"), had=len(LONG) + 5),
    )
    assert told[2].place.parting is Parting.GOES_ON


def test_tools_that_were_never_called_are_told_with_what_they_cost():
    pieces = (("S", "", "Be brief."), tool("read"), tool("write"), ("U", "", "Hello"))
    answers = (("A", "read", "read()"), ("U", "", "So?"), ("A", "", "It is 12."))
    had = sum(len(text) for _, _, text in pieces)
    told = costs(leased(*pieces), leased(*pieces, *answers, had=had))
    num_tokens = len(tool("write")[2])
    assert never_called(told) == {"write": num_tokens}
    assert advice_on(told) == (
        f"write: described in {num_tokens} tokens of the last prompt, and not called so far. "
        "Offer fewer tools."
    )


def test_what_answers_called_is_not_known_before_they_come_back():
    told = costs(
        *(leased(("S", "", LONG), tool("label"), ("U", "", one), had=len(LONG)) for one in ("dog", "fox"))
    )
    assert never_called(told) == {}


@pytest.mark.parametrize(
    ("start", "what"),
    [
        ("It is 12:0", "the time of day"),
        ("现在是下午3点1", "the time of day"),
        ("今天是2026年11月1", "the date"),
        ("Room ", "a number that changes"),
    ],
)
def test_a_first_message_that_changes_is_named_with_what_it_holds(start, what):
    rest = (("A", "", "Fine. " * 40), ("U", "", "And now?"))
    first, second = (("U", "", f"{start}{number}, and I ask: how are you?") for number in "12")
    system = ("S", "", "Be brief.")
    told = costs(leased(system, first), leased(system, second, *rest, had=9))
    assert told[1].head == f"An earlier message changed: {what}"


def test_messages_that_were_left_out_are_no_change():
    chat = [("U", "", f"Question {number}: {'so ' * number}?") for number in range(6)]
    told = costs(leased(("S", "", LONG), *chat), leased(("S", "", LONG), *chat[2:], had=len(LONG)))
    assert told[1].place.parting is Parting.LEFT_OUT


def test_what_was_broken_off_and_asked_again_is_no_matter_of_room():
    pieces = (("S", "", LONG), ("U", "", "Hello"))
    broken_off, again = leased(*pieces), leased(*pieces, had=256, prefix_end=PrefixEnd.NEW_TEXT)
    broken_off.num_computed = 256
    told = costs(broken_off, again)
    assert (told[1].place.parting, told[1].num_again) == (Parting.GOES_ON, 0)


def test_a_prompt_that_comes_back_behind_another_one_is_the_same():
    ours, other = (("S", "", LONG), ("U", "", "Hello")), (("S", "", f"{LONG[:600]} Or not."), ("U", "", "No"))
    told = costs(leased(*ours), leased(*other, had=600), leased(*ours, had=len(LONG) + 4))
    assert told[2].place.parting is Parting.SAME


def test_the_parts_are_the_whole_prompt_also_with_a_picture():
    prompt = leased(("S", "", "See <__media__>!"), ("U", "", "Hello"))
    ids = [*b"See ", -5, -6, -7, *b"!Hello"]

    prompt.lease = replace(prompt.lease, prompt_bytes=array("i", ids).tobytes())
    (told,) = costs(prompt)
    assert [part.num_tokens for part in told.parts] == [8, 5]


def test_as_json_it_says_the_same():
    told = costs(leased(("S", "", LONG), ("U", "", "Hello")))
    found = json.loads(json.dumps(as_json(PROGRAM, told)))
    assert found["requests"][0]["sections"] == [
        {"kind": "system", "name": "", "tokens": len(LONG), "computed": len(LONG)},
        {"kind": "user", "name": "", "tokens": 5, "computed": 5},
    ]
    assert found["requests"][0]["cached_tokens"] == 0


def test_an_empty_session_and_a_raw_prompt():
    assert (costs(), advice_on(())) == ((), "")
    raw = lease_of(leased(("U", "", "x")).lease, b"raw", [])
    (told,) = costs(LeasedPrompt(raw))
    assert told.parts == ()
    (_, other) = costs(LeasedPrompt(raw), LeasedPrompt(lease_of(raw, b"another raw prompt", [])))
    assert other.place.parting is Parting.UNKNOWN
