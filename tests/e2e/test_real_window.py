"""The whole program in a real window, driven by the keyboard."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from tests.e2e.desktop import Desktop, until
from tests.e2e.skein import Skein

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

SUMS = {"What is 34 + 21?": "55", "What is 17 + 5?": "22", "What is 60 + 38?": "98"}
COUNTS = ("Count from 1 to 100", "Count from 7 to 99", "Count from 12 to 98")


def test_three_tabs_talk_at_once_and_are_there_again_after_a_restart(
    skein: Skein, desktop: Desktop, tmp_path: Path
) -> None:
    skein.start()
    skein.show_inspector()

    # 1. Three tabs, a question each; every tab gets its own right answer.
    for number, question in enumerate(SUMS):
        if number:
            open_tab(skein)
        ask(skein, question)
    until(lambda: not any(skein.state()["busy"]), "the end of three answers")
    for index, (question, answer) in enumerate(SUMS.items()):
        look_at(skein, index, has_answer(question, answer))
    assert skein.state()["tabs"] == list(SUMS)

    # 2. The same tabs, three long answers, begun within one breath.
    type_drafts(skein, COUNTS)
    num_steps = len(skein.requests_per_step())
    desktop.keys("Return", "ctrl+Tab", "Return", "ctrl+Tab", "Return")
    until(lambda: len(tabs_in_fullest_step(skein, num_steps)) == 3, "three tabs computed in one step")
    requests = tabs_in_fullest_step(skein, num_steps)
    until(lambda: all(f"end {request} " in skein.log() for request in requests), "the end of three counts")
    for index, question in enumerate(COUNTS):
        look_at(skein, index, has_answer(question, the_count(question)))

    # 3. The inspector: one row for each chat, and F12 hides and shows it.
    check_inspector(skein)
    with_inspector = QImage(str(desktop.photograph(tmp_path / "with.png")))
    desktop.keys("F12")
    until(lambda: skein.state()["inspector"] is None, "the inspector to hide")
    assert QImage(str(desktop.photograph(tmp_path / "without.png"))) != with_inspector
    desktop.keys("F12")
    until(lambda: skein.state()["inspector"], "the inspector to come back")

    # 4. Closed, with the inspector hidden.
    desktop.keys("F12")
    until(lambda: skein.state()["inspector"] is None, "the inspector to hide again")
    shown = skein.state()
    desktop.keys("ctrl+q")
    assert skein.wait_for_end()[0] == 0
    turns = skein.turns()
    assert [text for _, role, _, text in turns if role == "user"] == [
        question for pair in zip(SUMS, COUNTS, strict=True) for question in pair
    ]
    assert {state for _, _, state, _ in turns} == {"done"}

    # 5. The next start shows the same tabs, the same texts, and goes on from there.
    skein.start()
    assert skein.state()["tabs"] == shown["tabs"]
    assert skein.state()["current"] == shown["current"]
    for index, chat_id in enumerate(skein.open_tabs()):
        look_at(skein, index, has_all([text for chat, _, _, text in turns if chat == chat_id]))
    assert skein.state()["composers"] == ["", "", ""]
    assert skein.state()["inspector"] is None
    desktop.keys("F12")
    until(lambda: skein.state()["inspector"], "the inspector to come back after the restart")
    ask(skein, "What is 8 + 9?")
    until(lambda: not any(skein.state()["busy"]), "the end of one more answer")
    look_at(skein, 2, has_answer("What is 8 + 9?", "17"))


def test_it_ends_in_order_while_three_tabs_are_streaming(
    skein: Skein, desktop: Desktop, babbler: Path
) -> None:
    skein.configure(temperature=0.0)
    skein.start(str(babbler))
    for number in range(3):
        if number:
            open_tab(skein)
        ask(skein, f"tell me story {number}")
    until(lambda: len(tabs_in_fullest_step(skein)) == 3, "three tabs computed in one step")
    until(
        lambda: sum(role == "assistant" and bool(text) for _, role, _, text in skein.turns()) == 3,
        "words of all",
    )
    desktop.keys("ctrl+q")
    assert skein.wait_for_end()[0] == 0
    assert "Ended in order." in skein.log()
    answers = [(state, bool(text)) for _, role, state, text in skein.turns() if role == "assistant"]
    assert answers == [("streaming", True)] * 3, "so that the next start offers to go on"


def test_a_tab_closed_while_it_streams_ends_and_can_be_reopened(
    skein: Skein, desktop: Desktop, babbler: Path
) -> None:
    skein.configure(temperature=0.0)
    skein.start(str(babbler))
    skein.show_inspector()
    ask(skein, "tell me a story")
    until(lambda: skein.requests_per_step(), "the first tokens")
    desktop.keys("ctrl+w")
    until(lambda: skein.state()["tabs"] == ["New chat"], "the tab to close")
    until(lambda: held_slots(skein) == [], "its cells to come back")
    num_steps = len(skein.requests_per_step())

    desktop.keys("ctrl+shift+t")
    until(lambda: "tell me a story" in skein.state()["tabs"], "the tab to come back")
    index = skein.state()["tabs"].index("tell me a story")
    look_at(skein, index, has_all(["tell me a story"]))
    assert len(skein.requests_per_step()) == num_steps
    desktop.keys("ctrl+q")
    assert skein.wait_for_end()[0] == 0


def test_a_fork_goes_on_from_the_cells_of_its_original_and_all_answers_stop_at_once(
    skein: Skein, desktop: Desktop, babbler: Path
) -> None:
    skein.configure(temperature=0.0)
    skein.start(str(babbler))
    skein.show_inspector()
    ask(skein, "tell me a story")
    until(lambda: len(skein.requests_per_step()) > 20, "some of an answer")
    desktop.keys("Escape")
    until(lambda: not any(skein.state()["busy"]), "the answer to stop")

    desktop.keys("ctrl+shift+k")
    until(lambda: skein.state()["tabs"] == ["tell me a story", "tell me a story (2)"], "the fork")
    assert skein.state()["current"] == 1
    go_to_tab(skein, 0)  # a hidden tab is drawn when it is shown, and its last words may be missing
    go_to_tab(skein, 1)
    until(lambda: len({*skein.state()["transcripts"]}) == 1, "the same text in both tabs")
    until(
        lambda: [number_in(row["cells shared"]) > 0 for row in held_slots(skein)] == [True] * 2,
        "shared cells",
    )

    ask(skein, "go on")
    go_to_tab(skein, 0)
    ask(skein, "begin again")
    until(lambda: len(tabs_in_fullest_step(skein)) == 2, "both tabs computed in one step")
    desktop.keys("shift+Escape")
    until(lambda: not any(skein.state()["busy"]), "both answers to stop")
    desktop.keys("ctrl+q")
    assert skein.wait_for_end()[0] == 0
    texts = [(role, text) for _, role, _, text in skein.turns()]
    original, fork = texts[:4], texts[4:]
    assert original[:2] == fork[:2]
    assert (original[2], fork[2]) == (("user", "begin again"), ("user", "go on"))
    assert {state for _, role, state, _ in skein.turns() if role == "assistant"} == {"stopped"}


def test_closing_the_window_ends_the_program(skein: Skein, desktop: Desktop) -> None:
    skein.start(observed=False)
    desktop.keys("alt+F4")
    assert skein.wait_for_end()[0] == 0


def test_a_signal_ends_it_in_order_and_keeps_the_draft(skein: Skein, desktop: Desktop) -> None:
    skein.start()
    desktop.type("half a thou")
    until(lambda: skein.state()["composers"] == ["half a thou"], "the draft")
    end_by(skein, signal.SIGHUP)
    assert skein.drafts() == ["half a thou"]


def test_what_was_sent_and_most_of_the_answer_survive_a_kill(skein: Skein, babbler: Path) -> None:
    skein.configure(temperature=0.0)
    skein.start(str(babbler))
    ask(skein, "tell me a story")
    until(lambda: any(role == "assistant" and text for _, role, _, text in skein.turns()), "text on disk")
    skein.clean_up()

    skein.start(str(babbler))
    question, answer = skein.turns()
    assert question[3] == "tell me a story"
    assert (answer[2], bool(answer[3])) == ("stopped", True)
    until(lambda: "tell me a story" in skein.state()["transcripts"][0], "the question in its tab")


def test_a_second_skein_leaves_the_chats_to_the_first_and_has_it_open_its_model(
    skein: Skein, babbler: Path
) -> None:
    skein.start()
    second = skein.run("-m", "app", str(babbler))
    assert second.wait(timeout=60) == 0
    assert "already running" in skein.output_file.read_text()
    until(lambda: f"{babbler} is loaded" in skein.log(), "the model of the second start")
    assert skein.state()["tabs"] == ["New chat"]
    end_by(skein, signal.SIGTERM)


def test_a_bad_file_is_explained_and_the_model_stays(skein: Skein, desktop: Desktop, tmp_path: Path) -> None:
    bad = tmp_path / "not a model.gguf"
    bad.write_bytes(b"GGUF" + b"\0" * 100)
    skein.start(str(bad), waits_for="open again")
    until(lambda: any("not a model.gguf" in text for text in skein.state()["notices"]), "the message")
    skein.take_offer("Use the starter model")
    until(lambda: "is loaded" in skein.log(), "the starter model")
    ask(skein, "What is 34 + 21?")
    until(lambda: "55" in skein.state()["transcripts"][0], "an answer from the starter model")
    end_by(skein, signal.SIGINT)


@pytest.fixture
def babbler(tiny_gguf: Callable[[str], Path]) -> Path:
    """A model whose answers have no end."""
    return tiny_gguf("qwen3")


# What a user does.


def end_by(skein: Skein, number: signal.Signals) -> None:
    assert skein.process
    skein.process.send_signal(number)
    assert skein.wait_for_end()[0] == 0
    assert "Ended in order." in skein.log()


def open_tab(skein: Skein) -> None:
    num_tabs = len(skein.state()["tabs"])
    skein.desktop.keys("ctrl+t")
    until(lambda: len(skein.state()["tabs"]) == num_tabs + 1 and skein.state()["has_focus"], "a new tab")


def ask(skein: Skein, question: str) -> None:
    write(skein, question)
    skein.desktop.keys("Return")
    until(
        lambda: question in skein.state()["transcripts"][skein.state()["current"]], "the question in its tab"
    )


def write(skein: Skein, text: str) -> None:
    skein.desktop.type(text)
    until(lambda: skein.state()["composers"][skein.state()["current"]] == text, f"{text!r} in the composer")


def type_drafts(skein: Skein, texts: tuple[str, ...]) -> None:
    """Into the first tab, the second…; the first one is current afterwards."""
    for number, text in enumerate(texts):
        go_to_tab(skein, number)
        write(skein, text)
    go_to_tab(skein, 0)


def go_to_tab(skein: Skein, index: int) -> None:
    skein.desktop.keys(f"alt+{index + 1}")
    until(lambda: skein.state()["current"] == index and skein.state()["has_focus"], f"tab {index + 1}")


# What a user sees.


def look_at(skein: Skein, index: int, is_right: Callable[[str], bool]) -> None:
    """A hidden tab is drawn when it is shown, so it is shown."""
    go_to_tab(skein, index)
    until(lambda: is_right(skein.state()["transcripts"][index]), f"the right text in tab {index + 1}")


def tabs_in_fullest_step(skein: Skein, since: int = 0) -> set[str]:
    """The answers that were computed together in the fullest step so far, after the first `since` steps."""
    return max(skein.requests_per_step()[since:], key=len, default=set())


def the_count(question: str) -> str:
    first, last = (int(word) for word in question.split() if word.isdigit())
    return ", ".join(map(str, range(first, last + 1)))


def has_answer(question: str, answer: str) -> Callable[[str], bool]:
    return lambda transcript: answer in one_line(transcript.partition(question)[2])


def has_all(texts: list[str]) -> Callable[[str], bool]:
    return lambda transcript: all(one_line(text) in one_line(transcript) for text in texts)


def one_line(text: str) -> str:
    return " ".join(text.split())


def check_inspector(skein: Skein) -> None:
    """One warm slot for each tab; its second turn has computed only what was new."""
    expected = [(str(seq_id), title, "warm") for seq_id, title in enumerate(SUMS)]
    until(lambda: names_of(held_slots(skein)) == expected, "one warm slot for each tab in the inspector")
    for row in held_slots(skein):
        assert number_in(row["pos min"]) == 0
        num_cells = number_in(row["cells own"]) + number_in(row["cells shared"])
        assert num_cells == number_in(row["pos max"]) + 1
        assert number_in(row["tokens reused"]) > 0


def held_slots(skein: Skein) -> list[dict[str, str]]:
    return [row for row in skein.state()["inspector"] if row["state"] != "empty"]


def names_of(rows: list[dict[str, str]]) -> list[tuple[str, str, str]]:
    return [(row["seq"], row["tab"], row["state"]) for row in rows]


def number_in(text: str) -> int:
    return int(text.replace(",", ""))
