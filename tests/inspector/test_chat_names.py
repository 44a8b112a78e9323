import pytest

from app.inspector.answer_finder import AnswerFinder
from app.inspector.chat_names import chat_name
from app.inspector.recording import Recording

TITLES = {"sums": "Sums"}


@pytest.mark.parametrize(
    ("chat_id", "name"),
    [
        ("sums", "Sums"),
        ("sums title", "title of Sums"),
        ("sums facts", "facts of Sums"),
        ("sums way 2", "Sums, answer 2"),
        ("sums way task 2", "Sums, task 2"),
        ("probabilities 7f", "token probabilities"),
        ("reading 7f", "recomputed answer"),
        ("shelf 7f", "shelf"),
        ("project 7f", "project"),
        ("closed", "no tab"),
    ],
)
def test_what_has_no_tab_is_called_what_it_is_for(chat_id: str, name: str) -> None:
    assert chat_name(chat_id, TITLES) == name


def test_an_answer_that_is_recomputed_has_such_a_name(qapp: object) -> None:
    finder = AnswerFinder(Recording(), None)  # type: ignore[arg-type]
    assert chat_name(finder._reading_id, {}) == "recomputed answer"
