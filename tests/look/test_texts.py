"""No text reaches the screen that is not translated: what the window shows, read off its syntax."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

APP_DIR = Path(__file__).resolve().parents[2] / "app"
PLACES = (*(sorted(APP_DIR.joinpath(name).rglob("*.py")) for name in ("ui", "inspector", "look")),)
FILES = [path for place in PLACES for path in place] + [APP_DIR / "window.py"]

TRANSLATED = {"tr", "tr_n", "tr_said", "mark", "said", "Words", "Column", "SequenceColumn", "_figure"}
EVERY_ARGUMENT = (
    "setText", "setToolTip", "setStatusTip", "setWhatsThis", "setWindowTitle", "setTitle", "setIconText",
    "setPlaceholderText", "setAccessibleName", "setAccessibleDescription", "setInformativeText",
    "setSpecialValueText", "setPrefix", "setSuffix", "setLabelText", "setNameFilters", "setNameFilter",
    "addTab", "addItem", "addItems", "addMenu", "showMessage", "showText", "set_label", "set_word_for_zero",
    "show_error", "show_note", "QLabel", "PlainLabel", "heading", "QPushButton", "QRadioButton", "QCheckBox",
    "QGroupBox", "QMenu", "QAction", "QFileDialog", "ChipButton", "ChoiceButton", "CopyButton", "ChoiceList",
    "NumberField",
)  # fmt: skip
# What shows its arguments to the user: all of them, or those at these places.
SHOWS: dict[str, tuple[int, ...] | None] = {
    **dict.fromkeys(EVERY_ARGUMENT),
    "IconButton": (1,),
    "make_action": (2, 3),
    "_action": (1, 2),
    "new": (1, 2),
    "add_menu": (1,),
    "submenu": (1,),
    "radio_menu": (2,),
    "Choice": (1, 2),
    "Mark": (1,),
    "RowAction": (1, 2),
    "offer": (0,),
}
# Not words: figures, signs, keys and what is only ever read by a program.
WORD = re.compile(r"[^\W\d_]{2,}")
SENTENCE = re.compile(r"[^\W\d_]{2,}[,;:]? [^\W\d_]{2,}")
NOT_SHOWN = {
    "tone", "muted", "danger", "GGUF", "Skein", "Ctrl", "Shift", "Alt", "Esc", "Enter", "Return", "Tab",
    "skein recording", "kv map",
}  # fmt: skip


def _name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def _literals(node: ast.AST) -> Iterator[ast.Constant]:
    """Those in it that are not the arguments of another call."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node
    elif not isinstance(node, ast.Call | ast.Subscript | ast.Compare | ast.FormattedValue):
        for child in ast.iter_child_nodes(node):
            yield from _literals(child)


def _is_shown_text(text: str) -> bool:
    return any(word not in NOT_SHOWN for word in WORD.findall(text))


def shown_untranslated(tree: ast.AST) -> Iterator[ast.Constant]:
    """Literals given to something that shows them."""
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and (name := _name(call)) in SHOWS:
            places = SHOWS[name]
            for number, argument in enumerate(call.args):
                if places is None or number in places:
                    yield from (one for one in _literals(argument) if _is_shown_text(one.value))


def loose_sentences(tree: ast.AST) -> Iterator[ast.Constant]:
    """Literals of several words that are not given to be translated, wherever they go."""
    exempt: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and any("Enum" in ast.unparse(base) for base in node.bases):
            exempt.update(node.body)  # its values are names
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            exempt.update(node.body[:1])  # perhaps its docstring
        elif isinstance(node, ast.Raise | ast.Assert):
            exempt.add(node)
        elif isinstance(node, ast.Call):
            is_log = isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") in (
                "log",
                "logger",
            )
            if is_log or _name(node) in TRANSLATED:
                exempt.add(node)
    yield from _sentences_outside(tree, exempt)


def _sentences_outside(node: ast.AST, exempt: set[ast.AST]) -> Iterator[ast.Constant]:
    if node in exempt and not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and _is_sentence(node.value):
        yield node
    for child in ast.iter_child_nodes(node):
        yield from _sentences_outside(child, exempt)


def _is_sentence(text: str) -> bool:
    is_markup = text.startswith("<") or '="' in text
    return SENTENCE.search(text) is not None and not is_markup and text not in NOT_SHOWN


# Sentences that do not appear in the window.
PROGRAMS_READ = {
    "window.py": "what is written to the terminal, where no language is chosen yet",
    "trace.py": "names in a file for Perfetto, which is in English",
    "theme.py": "a style sheet",
    "math_tree.py": "names of MathML and of fonts",
    "turn_passages.py": "a style sheet",
    "fonts.py": "names of families",
    "greeting.py": "questions for a model that has learnt English only",
}


def test_nothing_is_shown_that_is_not_translated() -> None:
    wrong = [
        f"{path.relative_to(APP_DIR)}:{literal.lineno}: {literal.value!r}"
        for path in FILES
        for literal in shown_untranslated(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert wrong == [], "Give them to tr of app/look/words.py."


def test_no_sentence_is_written_that_is_not_translated() -> None:
    wrong = [
        f"{path.relative_to(APP_DIR)}:{literal.lineno}: {literal.value!r}"
        for path in FILES
        if path.name not in PROGRAMS_READ
        for literal in loose_sentences(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert wrong == [], "Give them to tr of app/look/words.py."


def test_it_would_be_found() -> None:
    tree = ast.parse(
        "def show(self):\n"
        '    """Says so in words."""\n'
        '    label.setText("Stop" if self.is_on else tr("Go"))\n'
        '    label.setToolTip(f"{number} tokens")\n'
        '    make_action(self, "chat.new", "New", tr("A new chat"), self.new, "Ctrl+N")\n'
        '    text = "All is lost"\n'
        '    log.info("All is well")\n'
    )
    assert [literal.value for literal in shown_untranslated(tree)] == ["Stop", " tokens", "New"]
    assert [literal.value for literal in loose_sentences(tree)] == ["All is lost"]
