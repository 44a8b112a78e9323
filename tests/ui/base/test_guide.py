import re

from PySide6.QtCore import QUrl
from pytestqt.qtbot import QtBot

from app.ui.base.help_commands import HELP_DIR, PAGES, Guide, title_of


def test_every_page_is_in_the_list_and_can_be_read(qtbot: QtBot) -> None:
    guide = Guide()
    qtbot.addWidget(guide)
    assert {path.stem for path in HELP_DIR.glob("*.md")} == set(PAGES)
    for row, name in enumerate(PAGES):
        guide.pages.setCurrentRow(row)
        title = title_of(HELP_DIR / f"{name}.md")
        assert guide.pages.item(row).text() == title
        assert guide.text.toPlainText().startswith(title)


def test_a_link_to_another_page_is_followed_and_shown_in_the_list(qtbot: QtBot) -> None:
    guide = Guide()
    qtbot.addWidget(guide)
    guide.text.setSource(QUrl("models.md"))
    assert guide.pages.currentRow() == PAGES.index("models")
    assert guide.text.toPlainText().startswith(title_of(HELP_DIR / "models.md"))


def test_links_of_the_readme_and_the_pages_lead_somewhere() -> None:
    readme = HELP_DIR.parents[1] / "README.md"
    for page in [readme, *HELP_DIR.glob("*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
