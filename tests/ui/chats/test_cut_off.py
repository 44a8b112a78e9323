"""The notice of answers that were cut off."""

from types import SimpleNamespace

import pytest
from PySide6.QtWidgets import QApplication

from app.ui.base.notices import Notices
from app.ui.chats.cut_off import MAX_TITLES, CutOffAnswers, cut_off_text


@pytest.fixture
def told(qapp: QApplication) -> SimpleNamespace:
    resumed: list[tuple[str, ...]] = []
    titles = {"a": "Sums", "b": "Notes"}
    library = SimpleNamespace(
        chat=lambda chat_id: SimpleNamespace(title=titles[chat_id]) if chat_id in titles else None,
        resume=lambda chat_ids: resumed.append(tuple(chat_ids)),
    )
    notices = Notices()
    cut_off = CutOffAnswers(library, notices)  # type: ignore[arg-type]
    return SimpleNamespace(notices=notices, cut_off=cut_off, resumed=resumed)


def texts(told: SimpleNamespace) -> list[str]:
    return [banner.text for banner in told.notices.banners()]


def test_one_click_goes_on_with_all_of_the_last_run(told) -> None:
    told.cut_off.tell(("a", "b", "deleted"))
    assert texts(told) == ["2 answers were cut off: “Sums”, “Notes”"]
    told.notices.banners()[0].buttons[0].click()
    assert told.resumed == [("a", "b", "deleted")]
    assert texts(told) == []


def test_its_cross_ends_it(told) -> None:
    told.cut_off.tell(("a",))
    told.notices.banners()[0].cross.click()
    assert texts(told) == []


def test_nothing_is_told_where_nothing_was_cut_off(told) -> None:
    told.cut_off.tell(())
    assert texts(told) == []


def test_an_offer_does_not_take_its_place(told) -> None:
    told.cut_off.tell(("a",))
    told.notices.show_offer("Downloaded.", "Open", lambda: None)
    told.notices.show_offer("Downloaded, too.", "Open", lambda: None)
    assert texts(told) == ["1 answer was cut off: “Sums”", "Downloaded, too."]


def test_many_titles_are_not_all_listed() -> None:
    assert cut_off_text(["a"] * (MAX_TITLES + 1)).endswith("“a”, …")
