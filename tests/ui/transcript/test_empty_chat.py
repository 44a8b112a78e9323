from pytestqt.qtbot import QtBot

from app.ui.transcript.empty_chat import ModelOffers


def shown(offers: ModelOffers) -> list[str]:
    return [button.text() for button in offers.buttons if not button.isHidden()]


def test_only_what_is_there_is_offered(qtbot: QtBot) -> None:
    offers = ModelOffers()
    qtbot.addWidget(offers)
    assert shown(offers) == []
    offers.apply(0)
    assert shown(offers) == ["Open a GGUF file…", "Download a model that fits…"]
    offers.apply(1)
    assert shown(offers)[2:] == ["Use 1 model from other programs"]
    offers.apply(12)
    assert shown(offers)[2] == "Use 12 models from other programs"


def test_they_stand_below_each_other_where_it_is_narrow(qtbot: QtBot) -> None:
    offers = ModelOffers()
    qtbot.addWidget(offers)
    offers.apply(2)
    assert offers.fit(1000) == 1
    assert offers.fit(200) == 3
    assert offers.minimumSizeHint().width() == 0
