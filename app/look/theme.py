"""The application's theme: Fusion, a palette and a small style sheet, all made from the colour tokens.

Widgets that bake colours into pixmaps or HTML draw them again on `QEvent.Type.PaletteChange`. GUI thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette

from app.look.fonts import choose_column, choose_families
from app.look.tokens import DARK, DARK_CONTRAST, LIGHT, LIGHT_CONTRAST, Tokens
from app.system.paths import resources_dir

if TYPE_CHECKING:
    from PySide6.QtGui import QStyleHints
    from PySide6.QtWidgets import QApplication

    from app.settings.appearance import AppearanceSettings
    from app.settings.settings import Settings

STYLE = "fusion"
STYLE_PROPERTY = "skein.style"  # a property of the application: its current style

_SCHEMES = {"system": Qt.ColorScheme.Unknown, "light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}


def apply_theme(app: QApplication, choice: str) -> None:
    """`choice` is system, light or dark. Call again when the system's scheme or its contrast changes."""
    if app.property(STYLE_PROPERTY) != STYLE:
        app.setStyle(STYLE)
        app.setProperty(STYLE_PROPERTY, STYLE)
    hints = app.styleHints()
    hints.setColorScheme(_SCHEMES[choice])
    tokens = tokens_for(choice, hints.colorScheme(), _wants_contrast(hints))
    if app.styleSheet() != (sheet := style_sheet(tokens)):
        app.setStyleSheet("")  # else each widget gets its palette anew for each of its ancestors
        app.setPalette(palette_of(tokens))
        app.setStyleSheet(sheet)


def _wants_contrast(hints: QStyleHints) -> bool:
    """Whether the desktop asks for high contrast; known since Qt 6.10."""
    if not hasattr(hints, "accessibility"):
        return False
    return hints.accessibility().contrastPreference() == Qt.ContrastPreference.HighContrast


def tokens_for(choice: str, system: Qt.ColorScheme, wants_contrast: bool = False) -> Tokens:
    is_dark = system == Qt.ColorScheme.Dark if choice == "system" else choice == "dark"
    if wants_contrast:
        return DARK_CONTRAST if is_dark else LIGHT_CONTRAST
    return DARK if is_dark else LIGHT


def palette_of(tokens: Tokens) -> QPalette:
    palette = QPalette()
    role = QPalette.ColorRole
    colours = {
        role.Window: tokens.surface,
        role.WindowText: tokens.text,
        role.Base: tokens.window,
        role.AlternateBase: tokens.surface,
        role.Text: tokens.text,
        role.Button: tokens.raised,
        role.ButtonText: tokens.text,
        role.BrightText: tokens.danger,
        role.ToolTipBase: tokens.popup,
        role.ToolTipText: tokens.text,
        role.PlaceholderText: tokens.muted,
        role.Highlight: tokens.accent,
        role.HighlightedText: tokens.on_accent,
        role.Link: tokens.accent,
        role.LinkVisited: tokens.accent,
        role.Accent: tokens.accent,
        role.Light: tokens.raised,
        role.Midlight: tokens.hairline,
        role.Mid: tokens.hairline,
        role.Dark: tokens.hairline,
    }
    for name, colour in colours.items():
        palette.setColor(name, QColor(colour))
    for name in (role.Text, role.WindowText, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, name, _faded(tokens))
    return palette


def _faded(tokens: Tokens) -> QColor:
    colour = QColor(tokens.muted)
    colour.setAlphaF(0.6)
    return colour


def style_sheet(tokens: Tokens) -> str:
    """Only what the palette cannot say: spaces, hairlines, corners."""
    values = tokens._asdict()
    values["faded"] = _faded(tokens).name(QColor.NameFormat.HexArgb)
    sheet = _SHEET.replace("@icons", (resources_dir() / "icons").as_posix())
    for name, value in values.items():
        sheet = sheet.replace(f"@{name};", f"{value};").replace(f"@{name} ", f"{value} ")
    return sheet


_SHEET = """
QMainWindow::separator { background: @hairline; width: 1px; height: 1px; }
QMenuBar { background: @surface; padding: 2px 4px; border: none; }
QMenuBar::item { padding: 4px 8px; border-radius: 6px; background: transparent; }
QMenuBar::item:selected { background: @raised; }
QMenu { background: @popup; border: 1px solid @hairline; padding: 5px; }
*[stands="out"] { border-radius: 10px; }
QMenu::item { padding: 5px 24px 5px 12px; border-radius: 6px; }
QMenu::item:selected { background: @chosen; color: @text; }
QMenu::icon, QMenu::indicator { left: 7px; }
QMenu::separator { height: 1px; background: @hairline; margin: 4px 8px; }
QToolTip { background: @popup; color: @text; border: 1px solid @hairline; padding: 4px 6px; }
QStatusBar { background: @surface; border-top: 1px solid @hairline; }
QStatusBar::item { border: none; }

QTabBar { background: transparent; border: none; outline: none; }
QTabBar::tab { background: transparent; color: @muted; border: none; border-bottom: 2px solid transparent;
    border-top-left-radius: 8px; border-top-right-radius: 8px; padding: 7px 6px 5px 10px; margin: 0 1px; }
QTabBar::tab:hover { background: @raised; color: @text; }
QTabBar::tab:selected { background: @window; color: @text; }
QTabBar::tab:selected:focus { border-bottom: 2px solid @accent; }
QTabBar#chats::tear { width: 0; image: none; }
QTabBar#chats::tab { padding: 7px 22px 5px 8px; }
QTabBar#chats[squeezed="true"]::tab:!selected { padding-right: 6px; }
QTabBar::scroller { width: 24px; }
QTabBar QToolButton#ScrollLeftButton, QTabBar QToolButton#ScrollRightButton { background: @surface;
    border: none; border-radius: 0; }

QScrollArea { background: transparent; border: none; }
QAbstractScrollArea::corner { background: transparent; border: none; }
QScrollBar:vertical { background: transparent; width: 12px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 12px; margin: 0; }
QScrollBar::handle { background: @hairline; border-radius: 4px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 32px; }
QScrollBar::handle:horizontal { min-width: 32px; }
QScrollBar::handle:hover { background: @muted; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }

QLabel[tone="muted"] { color: @muted; }
QLabel[tone="danger"] { color: @danger; }
QLabel[tone="warning"] { color: @warning; }

QPushButton { background: @raised; border: 1px solid @hairline; border-radius: 6px; padding: 5px 12px;
    outline: none; }
QPushButton:hover { border-color: @muted; }
QPushButton:pressed { background: @hairline; }
QPushButton:focus { border-color: @accent; }
QPushButton[kind="chip"] { background: transparent; border-radius: 8px; padding: 8px 14px; }
QPushButton[kind="chip"]:hover { background: @raised; border-color: @hairline; }
QPushButton[kind="chip"]:focus { border-color: @accent; }
QPushButton[kind="quiet"] { background: transparent; border-color: transparent; color: @accent; }
QPushButton[kind="quiet"]:hover { background: @raised; }
QPushButton[kind="quiet"]:focus { border-color: @accent; }

QToolButton { background: transparent; border: 1px solid transparent; border-radius: 6px; padding: 3px;
    outline: none; }
QToolButton:hover { background: @raised; }
QToolButton:pressed { background: @hairline; }
QToolButton:focus { border-color: @accent; }
QToolButton[kind="chip"] { color: @muted; padding: 3px 6px; }
QToolButton[kind="chip"]:hover { color: @text; }
QToolButton[kind="choice"] { background: @raised; border-color: @hairline; padding: 3px 16px 3px 6px; }
QToolButton[kind="choice"]:hover { border-color: @muted; }
QToolButton[kind="choice"]:focus { border-color: @accent; }
QToolButton[kind="chip"]:checked { background: @hairline; color: @text; }
QToolButton[kind="chip"]:disabled, QToolButton[kind="action"]:disabled { color: @faded; }
QToolButton[kind="action"] { color: @text; padding: 3px 7px; }
QToolButton[kind="chip"][popupMode="2"] { padding-right: 16px; }
QToolButton::menu-indicator { subcontrol-position: right center; right: 4px; }

QPushButton:disabled { color: @muted; background: transparent; }
QPushButton:default, QPushButton[kind="first"] {
    background: @accent; border-color: @accent; color: @on_accent; }
QPushButton:default:hover, QPushButton[kind="first"]:hover { border-color: @text; }
QPushButton:default:disabled, QPushButton[kind="first"]:disabled {
    background: transparent; border-color: @hairline; color: @muted; }
QPushButton[kind="quiet"][place="bar"] { padding: 1px 8px; }
QPushButton[kind="quiet"][place="status"] { padding: 1px 8px; color: @text; }

QProgressBar { background: @hairline; border: none; border-radius: 2px; max-height: 4px; }
QProgressBar::chunk { background: @accent; border-radius: 2px; }

QDialog { background: @surface; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QFrame#popover { background: @popup; border: 1px solid @hairline; }
QRadioButton { spacing: 8px; padding: 2px 6px 2px 2px; border: 1px solid transparent; border-radius: 6px;
    outline: none; }
QRadioButton:focus { border-color: @accent; }
QRadioButton::indicator { width: 12px; height: 12px; border: 1px solid @muted; border-radius: 7px;
    background: @window; }
QRadioButton::indicator:hover { border-color: @accent; }
QRadioButton::indicator:checked { width: 6px; height: 6px; border: 4px solid @accent; }
QLineEdit { background: @window; border: 1px solid @hairline; border-radius: 6px; padding: 3px 6px;
    lineedit-clear-button-icon: url("@icons/clear.svg"); }
QLineEdit:hover { border-color: @muted; }
QLineEdit:focus { border-color: @accent; }
QAbstractSpinBox { background: @window; border: 1px solid @hairline; border-radius: 6px; padding: 3px 6px; }
QAbstractSpinBox:hover { border-color: @muted; }
QAbstractSpinBox:focus { border-color: @accent; }
QAbstractSpinBox::up-button { subcontrol-origin: border; subcontrol-position: top right; width: 22px;
    border: none; }
QAbstractSpinBox::down-button { subcontrol-origin: border; subcontrol-position: bottom right; width: 22px;
    border: none; }
QAbstractSpinBox::up-arrow, QAbstractSpinBox::down-arrow { image: none; width: 0; height: 0; }
QComboBox[kind="flat"] { background: @window; border: 1px solid @hairline; border-radius: 6px;
    padding: 3px 8px; combobox-popup: 0; }
QComboBox[kind="flat"]:hover { border-color: @muted; }
QComboBox[kind="flat"]:focus { border-color: @accent; }
QComboBox[kind="flat"] QAbstractItemView { background: @popup; border: 1px solid @hairline;
    border-radius: 10px; padding: 5px; outline: none; }
QComboBox[kind="flat"] QAbstractItemView::item { padding: 5px 8px; border-radius: 6px; color: @text; }
QComboBox[kind="flat"] QAbstractItemView::item:selected { background: @chosen; color: @text; }
QComboBox[kind="flat"]::drop-down { border: none; width: 22px; }
QComboBox[kind="flat"]::down-arrow { image: none; }
QFrame#palette, QFrame#search { background: @popup; border: 1px solid @hairline; }
QFrame#palette QLineEdit { background: transparent; border: none; border-bottom: 1px solid @hairline;
    border-radius: 0; }
QFrame#search QListView { background: transparent; }
QFrame#palette QListView { background: transparent; padding: 4px 0; }
QListWidget#nav { background: transparent; border: none; outline: none; }
QListWidget#nav::item { padding: 6px 8px; border-radius: 6px; border: 1px solid transparent; color: @text; }
QListWidget#nav::item:hover { background: @raised; }
QListWidget#nav::item:selected { background: @chosen; color: @text; }
QListWidget#nav::item:selected:focus { border-color: @accent; }
QDialog QPlainTextEdit, QFrame#popover QPlainTextEdit { background: @window; border: 1px solid @hairline;
    border-radius: 6px; padding: 2px 4px; }
QDialog QPlainTextEdit:focus, QFrame#popover QPlainTextEdit:focus { border-color: @accent; }
QListView#lines { background: @window; border: 1px solid @hairline; border-radius: 6px; padding: 4px; }
QListWidget#lines::item { padding: 4px 6px; border-radius: 4px; color: @text; }
QListWidget#lines::item:selected { background: @chosen; color: @text; }
QListView#lines:focus { border-color: @accent; }
QDialog QTableView { border: 1px solid @hairline; border-radius: 6px; }
QDialog QTableView:focus { border-color: @accent; }

QTableView { background: @window; border: none; gridline-color: transparent;
    selection-background-color: @raised; selection-color: @text; outline: none; }
QTableView::item { padding: 0 3px; border: none; }
QHeaderView { background: @window; border: none; }
QHeaderView::up-arrow, QHeaderView::down-arrow { subcontrol-position: top center; width: 9px; height: 7px; }
QHeaderView::section { background: @window; color: @muted; border: none; border-bottom: 1px solid @hairline;
    padding: 4px 6px; }
"""


def dress(app: QApplication, appearance: AppearanceSettings | Settings) -> None:
    """Colours, font families and the width of the column: needed before the first widget is created."""
    apply_theme(app, appearance.theme)
    choose_families(app, appearance.reading_font, appearance.code_font)
    choose_column(app, appearance.column)
