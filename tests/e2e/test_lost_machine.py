"""What a user sees when another machine that computes a part of the model goes away in mid-answer."""

import re
from pathlib import Path

import pytest

from app.system import paths
from tests.e2e.desktop import Desktop, until
from tests.e2e.skein import Skein
from tests.worker_machines import machines

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

COUNT = "Count from 1 to 60"


def test_the_window_says_so_and_the_answer_goes_on_without_it(
    skein: Skein, desktop: Desktop, tmp_path: Path
) -> None:
    starter = str(paths.starter_model())
    with machines(2, "loopback") as [lost, kept]:
        skein.configure(models={starter: {"workers": [lost.address, kept.address]}}, temperature=0.0)
        skein.start(starter)
        lost.freeze()
        desktop.type(COUNT)
        desktop.keys("Return")

        def has_begun() -> bool:
            lost.thaw_for(0.005)  # a few tokens: the answer must not have ended when this is seen
            return len(answer(skein)) > 10

        until(has_begun, "the answer to begin")
        lost.kill()
        until(lambda: any(lost.address in text for text in skein.state()["notices"]), "the window to say so")
        desktop.photograph(tmp_path / "lost.png")
        until(lambda: state_of_answer(skein) == "done", "the whole answer on disk")
        assert skein.log().count("is loaded") == 2
        numbers = [int(number) for number in re.findall(r"\d+", answer(skein))]
        assert len(numbers) > 20
        assert numbers == list(range(1, len(numbers) + 1))
    desktop.keys("ctrl+q")
    assert skein.wait_for_end()[0] == 0


def answer(skein: Skein) -> str:
    return next((text for _chat, role, _state, text in skein.turns() if role == "assistant"), "")


def state_of_answer(skein: Skein) -> str:
    return next((state for _chat, role, state, _text in skein.turns() if role == "assistant"), "")
