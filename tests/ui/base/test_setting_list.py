import pytest
from PySide6.QtGui import QFontDatabase

from app.look.words import tr
from app.settings.settings import Settings
from app.ui.base.setting import Facts, Setting, field_of
from app.ui.base.setting_list import PAGES
from app.ui.base.setting_notes import families
from tests.fakes import model_info

SETTINGS = [row for page in PAGES for row in page.rows if isinstance(row, Setting)]
BY_NAME = {setting.name: setting for setting in SETTINGS}
# Settings that are set elsewhere.
NOT_SHOWN = (
    "format",  # of the file
    "model_path",
    "recent_models",  # chosen by opening a model
    "pinned_models",  # chosen above the chat
    "servers",  # has a window of its own
    "api_key",  # made by the program; the API's own window shows it
    "shortcuts",  # has a page of its own
    "default_preset",  # chosen among the presets of a chat's settings
    # Chosen in the window of the models.
    "models",
    "model_folders",
    "workers",
    # Chosen in the window of the shelves.
    "shelf_embedder",
    "shelf_reranker",
    # Rows of their own on the page of tools.
    "tool_approvals",
    "tool_folders",
    "models_calling_in_text",
)


def test_every_setting_is_on_one_page_or_it_is_said_why_not() -> None:
    names = [setting.name for setting in SETTINGS]
    assert sorted([*names, *NOT_SHOWN]) == sorted(Settings.model_fields)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_it_says_what_it_is_and_what_it_does(setting: Setting) -> None:
    assert setting.label
    assert setting.sentence.endswith(".") or setting.sentence == ""
    assert setting.sentence.rstrip(".") != setting.label


def test_what_does_not_explain_itself_has_a_sentence() -> None:
    silent = {setting.name for setting in SETTINGS if not setting.sentence}
    assert silent == {"theme", "reading_font", "code_font"}


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_all_that_can_be_chosen_and_nothing_else_is_offered(setting: Setting) -> None:
    field = field_of(setting.name)
    assert [choice.value for choice in setting.choices] == list(field.values)
    if setting.named:
        assert field.default in setting.named()


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_none_has_a_word(setting: Setting) -> None:
    field = field_of(setting.name)
    if field.is_optional or (field.kind is int and field.low == 0 and not (setting.named or setting.on)):
        assert tr(setting.word)


def note(setting: str, settings: Settings, **model: object) -> str:
    make_note = BY_NAME[setting].note
    assert make_note
    info = model_info(**model) if model else None
    return make_note(Facts(settings, info, num_cores=4))


def test_what_automatic_means_here_is_told() -> None:
    assert note("n_ctx", Settings(), n_ctx=8192) == "Automatic: 8,192 tokens."
    assert note("n_ctx", Settings(n_ctx=512), n_ctx=8192) == ""
    assert note("n_ctx", Settings()) == ""
    assert note("n_threads", Settings()) == "This computer has 4 physical cores."


def test_what_a_slot_would_get_of_an_isolated_pool_is_told() -> None:
    told = "2,048 tokens per slot (16,384 / 8)."
    assert note("isolated", Settings(n_ctx=16_384)) == told
    assert note("isolated", Settings(), n_ctx=16_384) == told
    assert note("isolated", Settings()) == ""


def test_what_the_model_recommends_is_told() -> None:
    assert note("temperature", Settings(), name="starter") == "Recommended for starter: 0.8."
    assert note("temperature", Settings()) == ""


INSTALLED = ["Courier [adobe]", "Courier [bitstream]", "Inter", "JetBrains Mono", "Noto Serif", ".private"]


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFontDatabase, "families", staticmethod(lambda: INSTALLED))
    monkeypatch.setattr(QFontDatabase, "isPrivateFamily", staticmethod(lambda name: name.startswith(".")))
    monkeypatch.setattr(
        QFontDatabase, "isFixedPitch", staticmethod(lambda name: "Co" in name or "Mono" in name)
    )


def test_a_family_of_several_foundries_is_offered_once(installed: None) -> None:
    assert list(families(is_fixed=False).values()).count("Courier") == 1
    assert not any("[" in name for name in families(is_fixed=False).values())


def test_the_font_that_comes_along_stands_first_and_once_then_the_systems(installed: None) -> None:
    assert list(families(is_fixed=False).items())[:2] == [("", "Inter"), ("system", "System font")]
    assert list(families(is_fixed=True).values()) == ["JetBrains Mono", "System font", "Courier"]
    assert list(families(is_fixed=False).values()).count("Inter") == 1
