"""The batcher stepped by hand and a chat forked at a token, in a real window, by keyboard and mouse.

What is asserted is what the engine computed: its own log tells rows and positions of every step.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from tests.e2e.desktop import new_desktop, until
from tests.e2e.skein import Skein
from tests.effort import EFFORT

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

QUESTION, ANSWER = "What is 34 + 21?", "34 + 21 = 55"
SPAN = re.compile(r"seq (\d+) (prefill|decode) rows=(\d+) pos=(\d+)\.\.(\d+)")
DARK = 80  # a page is darker or lighter than this, of 255


@dataclass(frozen=True)
class Computed:
    """One sequence in one step."""

    seq_id: int
    phase: str
    num_rows: int
    first_pos: int
    last_pos: int


LOOKS = {"light at 100%": ("light", 1), "dark at 200%": ("dark", 2)}
SHOWN = list(LOOKS) if EFFORT > 1 else ["light at 100%"]


@pytest.fixture(params=map(LOOKS.get, SHOWN), ids=SHOWN)
def skein(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Skein]:
    theme, scale = request.param
    with new_desktop(scale) as desktop:
        skein = Skein(tmp_path / "home", desktop)
        skein.configure(theme=theme, temperature=0.0, format=1, num_drafted_tokens=0)  # a token a step
        yield skein
        skein.clean_up()


def test_a_chat_is_stepped_run_until_something_and_forked_at_a_token(
    skein: Skein, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    skein.start()
    skein.show_inspector()
    desktop = skein.desktop

    # 1. Paused, a question waits, and its batch is seen before it is computed.
    skein.click("tab Step through")
    desktop.keys("F8")
    until(lambda: "paused" in skein.state()["paused"], "the pause")
    desktop.keys("alt+1")
    until(lambda: skein.state()["has_focus"], "the keyboard focus")
    desktop.type(QUESTION)
    desktop.keys("Return")
    until(lambda: skein.state()["plan"], "the planned batch")
    num_prompt_tokens = len(skein.state()["plan"])
    assert skein.state()["busy"] == [True]
    assert steps(skein) == []

    # 2. One step by its key computes exactly that, another by the mouse the first token of the answer.
    desktop.keys("F10")
    until(lambda: len(steps(skein)) == 1, "the first step")
    until(lambda: len(skein.state()["plan"]) == 1, "the next plan")
    skein.click("button Step")
    until(lambda: len(steps(skein)) == 2, "the second step")
    assert steps(skein) == [
        [Computed(0, "prefill", num_prompt_tokens, 0, num_prompt_tokens - 1)],
        [Computed(0, "decode", 1, num_prompt_tokens, num_prompt_tokens)],
    ]

    # 3. Until a position, and until a token.
    wanted = num_prompt_tokens + 4
    skein.click("position")
    desktop.keys("ctrl+a")
    desktop.type(str(wanted))
    desktop.keys("Return")
    until(lambda: f"reached position {wanted}" in skein.state()["paused"], "the position")
    assert steps(skein)[-1] == [Computed(0, "decode", 1, wanted, wanted)]
    assert len(steps(skein)) == 6
    skein.click("condition")
    desktop.keys("Down", "Down", "Return")
    skein.click("text")
    desktop.type("5")
    until(lambda: skein.state()["token_choice"].startswith("“5”"), "the token's id")
    photograph(skein, tmp_path)
    desktop.keys("Return")
    token_id = skein.state()["token_choice"].split(" · ")[1]
    until(lambda: f"Token {token_id} was sampled" in skein.state()["paused"], "the token")
    until(lambda: skein.state()["transcripts"][0].endswith(ANSWER[:-1]), "the answer up to that token")
    assert not skein.state()["transcripts"][0].endswith(ANSWER)

    # 4. Let go, it ends by itself.
    desktop.keys("F5")
    until(lambda: skein.state()["busy"] == [False], "the end of the answer")
    until(lambda: not skein.state()["paused"], "the strip to go")
    until(lambda: skein.state()["transcripts"][0].endswith(ANSWER), "the whole answer")

    # 5. What else could have stood in place of the first 5.
    desktop.keys("ctrl+alt+p")
    until(lambda: skein.state()["tokens"], "the answer's tokens")
    texts = [row[1] for row in skein.state()["tokens"]]
    assert "".join(texts[:-1]).replace("␣", " ") == ANSWER
    place = texts.index("5")
    assert skein.state()["tokens"][place][2] == token_id
    skein.click(f"token {place}")
    until(lambda: shows_candidates_of(skein, place), "its candidates")
    first, second, *_ = skein.state()["candidates"]
    assert (first[1], first[2], first[4]) == ("5", token_id, "100%")
    assert second[4] == "ruled out"  # greedy
    assert f"1 token computed, {num_prompt_tokens + place - 1} shared" in skein.state()["candidates_status"]
    image = photograph(skein, tmp_path)
    is_dark = request.node.callspec.params["skein"][0] == "dark"
    assert (image.pixelColor(image.width() // 4, image.height() // 2).lightness() < DARK) == is_dark

    # 6. A fork with another one computes that token and goes on from it, in the cells it shares.
    num_steps = len(steps(skein))
    skein.click("candidate 1", times=2)
    until(lambda: len(skein.state()["tabs"]) == 2, "the fork")
    until(lambda: skein.state()["busy"] == [False, False], "the end of its answer")
    begun = ANSWER[: ANSWER.index("= ") + 2] + second[1].replace("␣", " ")
    until(lambda: begun in skein.state()["transcripts"][1], "the fork's text")
    at = num_prompt_tokens + place
    assert steps(skein)[num_steps][0] == Computed(1, "prefill", 1, at, at)
    assert skein.state()["transcripts"][0].endswith(ANSWER)

    # 7. In a pause, Stop still works.
    desktop.keys("F8")
    until(lambda: skein.state()["paused"], "another pause")
    desktop.keys("alt+2")
    until(lambda: skein.state()["has_focus"], "the keyboard focus")
    desktop.type(QUESTION)
    desktop.keys("Return")
    until(lambda: skein.state()["busy"] == [False, True], "another question")
    num_steps = len(steps(skein))
    desktop.keys("Escape")
    until(lambda: skein.state()["busy"] == [False, False], "the answer to stop")
    assert skein.state()["paused"]
    assert len(steps(skein)) == num_steps

    desktop.keys("ctrl+q")
    assert skein.wait_for_end()[0] == 0
    answers = [text for _, role, _, text in skein.turns() if role == "assistant"]
    assert answers[0] == ANSWER
    assert answers[1].startswith(begun)


def photograph(skein: Skein, folder: Path) -> QImage:
    return QImage(str(skein.desktop.photograph(folder / "screen.png")))


def shows_candidates_of(skein: Skein, place: int) -> bool:
    state = skein.state()
    return bool(state["place"] == place and state["candidates"] and "computed" in state["candidates_status"])


def steps(skein: Skein) -> list[list[Computed]]:
    """Every step that computed something."""
    spans = [SPAN.findall(line) for line in skein.log().splitlines() if "engine: step" in line]
    return [
        [Computed(int(seq), phase, *map(int, numbers)) for seq, phase, *numbers in one]
        for one in spans
        if one
    ]
