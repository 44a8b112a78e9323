"""What a search of a chat's own messages finds, and what of it goes with the next message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chats.attachment import PASSAGE, RECALLED, Attachment
from app.chats.chat import Turn
from app.protocol.request import Role
from app.shelves.recall import MAX_RECALLED, recalled_for, said_in

TALK = (
    "The door code of the mill is 7781, and it is raining.",
    "Noted: the code is for the door of the mill.",
    "The roofer wants 412 euros for the gutter.",
    "That is a fair price, and it is raining here, too.",
    "We walked around the lake, and it is warm.",
    "The lake is the best place in summer.",
)


def turns(*texts: str) -> list[Turn]:
    return [
        Turn(Role.ASSISTANT if number % 2 else Role.USER, text, attachments=())
        for number, text in enumerate(texts)
    ]


def found_for(question: str, *texts: str) -> list[str]:
    return [one.name for one in recalled_for(said_in(turns(*(texts or TALK))), question, MAX_RECALLED)]


def test_what_goes_with_a_message_stands_in_the_order_of_the_chat() -> None:
    found = recalled_for(said_in(turns(*TALK)), "What is the door code of the mill?", MAX_RECALLED)
    assert [one.name for one in found] == ["User, message 1", "Assistant, message 2"]
    assert found[0].text == TALK[0]
    assert {one.kind for one in found} == {RECALLED}


@pytest.mark.parametrize(
    "question",
    [
        *(
            "",
            "?!",
            "Thanks, go on.",
            "Is the weather nice?",
            "It is, and it is.",
            "Make it one line, please.",
        ),
        *("Thank you very much!", "Thanks a lot, that is all for today.", "What else should I know?"),
    ],
)
def test_a_message_that_asks_for_nothing_of_it_goes_alone(question: str) -> None:
    assert found_for(question) == []


def test_one_word_is_enough_where_the_others_are_nowhere() -> None:
    assert found_for("Who mends the gutter?") == ["User, message 3", "Assistant, message 4"]


def test_what_was_only_asked_is_found_by_its_answer() -> None:
    asked = (
        "Where does Ingrid live?",
        "In Bergen.",
        "And who feeds her cat?",
        "Nobody knows.",
        "How warm!",
        "Yes.",
    )
    assert found_for("Ingrid's town?", *asked) == ["Assistant, message 2"]
    told = "Name rivers in France.", "Loire, Rhone.", "Good.", "Yes.", "What a day.", "Yes."
    assert found_for("Which rivers did you name?", *told) == ["User, message 1", "Assistant, message 2"]


def test_the_best_that_may_come_comes_where_there_is_room_for_one() -> None:
    known = said_in(turns("Ingrid lives here.", "Yes.", "Ingrid has a cat called Pixel.", "Good.", *TALK))
    question = "What is the name of Ingrid's cat?"
    (best,) = recalled_for(known, question, 1)
    assert best.name == "User, message 3"
    assert [one.name for one in recalled_for(known, question, 1, {best.text})] == ["Assistant, message 4"]


def test_scripts_without_spaces_are_found() -> None:
    assert found_for(
        "门禁密码是什么?", "仓库的门禁密码是七七八一。", "好的。", "我们去湖边散步吧。", "好主意。"
    )[0] == ("User, message 1")


def test_files_are_searched_and_what_was_found_before_is_not() -> None:
    question = Turn(
        Role.USER,
        "How do they compare?",  # which is no answer, but its file may be one
        attachments=(
            Attachment("notes.txt", "The anchor weighs nine tons."),
            Attachment("[1] a.md:1", "An anchor of iron.", PASSAGE),
            Attachment("User, message 1", "The anchor chain is long.", RECALLED),
        ),
    )
    (found,) = recalled_for(said_in([question, *turns(*TALK)]), "How heavy is the anchor?", MAX_RECALLED)
    assert "nine tons" in found.text
    assert "iron" not in found.text
    assert "chain" not in found.text


@given(st.lists(st.text(max_size=80), max_size=12), st.text(max_size=80))
def test_any_words_are_searched(texts: list[str], question: str) -> None:
    known = said_in(turns(*texts))
    found = recalled_for(known, question, MAX_RECALLED)
    assert len(found) <= MAX_RECALLED
    assert {one.text for one in found} <= {one.text for one in known}
