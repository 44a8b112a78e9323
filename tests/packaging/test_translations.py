"""The texts in the code, and their translations in resources/translations."""

import ast
import re
import string
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QTranslator

from app.look.language import TRANSLATIONS_DIR
from app.look.words import CONTEXT
from translations.__main__ import APP_DIR, as_source, update
from translations.collect import OF_QT, Text, collect

CHINESE = TRANSLATIONS_DIR / "skein_zh_CN.ts"
MNEMONIC = re.compile("&(?=[^& ])")

# Collecting.


def write(folder: Path, source: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "one.py").write_text(source, encoding="utf-8")
    return folder


def test_texts_are_found_wherever_they_are_given_to_be_translated(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "app",
        'NAME = mark("A name")\n'
        "class One:\n"
        "    def two(self):\n"
        '        tr("Closed "\n           "“{title}”.", title=NAME)\n'
        '        tr_n("{n} turn", "{n} turns", 3)\n'
        '        said("No room.")\n'
        '        tr(NAME), other.tr("not ours"), print("not at all")\n',
    )
    assert collect(folder) == [
        Text("A name", False, "app/one.py"),
        Text("Closed “{title}”.", False, "app/one.py"),
        Text("{n} turns", True, "app/one.py"),
        Text("No room.", False, "app/one.py"),
    ]


def test_a_text_is_either_counted_or_not(tmp_path: Path) -> None:
    folder = write(tmp_path / "app", 'tr_n("{n} turn", "{n} turns", 3)\ntr("{n} turns")\n')
    with pytest.raises(ValueError, match="counted"):
        collect(folder)


def test_an_update_leaves_alone_what_a_running_program_reads(tmp_path: Path) -> None:
    ts = tmp_path / "skein_de.ts"
    update(as_source([Text("Stop", False, "a.py")]), [ts])
    with ts.with_suffix(".qm").open("rb", buffering=0) as in_use:
        before = in_use.read()
        text = ts.read_text(encoding="utf-8")
        ts.write_text(text.replace('type="unfinished"></', ">Halt</"), encoding="utf-8")
        update(as_source([Text("Stop", False, "a.py")]), [ts])
        in_use.seek(0)
        assert in_use.read() == before
    assert ts.with_suffix(".qm").read_bytes() != before
    assert {file.suffix for file in tmp_path.iterdir()} == {".ts", ".qm"}


def test_an_update_keeps_translations_and_marks_texts_that_are_gone(tmp_path: Path) -> None:
    ts = tmp_path / "skein_de.ts"
    update(as_source([Text("Stop", False, "a.py"), Text("Start", False, "a.py")]), [ts])
    text = ts.read_text(encoding="utf-8")
    for german in ("Halt", "Los"):
        text = text.replace(
            '<translation type="unfinished"></translation>', f"<translation>{german}</translation>", 1
        )
    ts.write_text(text, encoding="utf-8")
    update(as_source([Text("Stop", False, "a.py"), Text('Quote " and \\', False, "b.py")]), [ts])
    found = {source: (kind, forms) for source, kind, forms in messages(ts)}
    assert found == {
        "Stop": ("", ["Halt"]),
        "Start": ("vanished", ["Los"]),
        'Quote " and \\': ("unfinished", [""]),
    }
    translator = QTranslator()
    assert translator.load(str(ts.with_suffix(".qm")))
    assert translator.translate(CONTEXT, "Stop") == "Halt"


# What stands in resources.


def messages(ts: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Source, what kind of translation, and its forms."""
    for message in ET.parse(ts).iter("message"):
        translation = message.find("translation")
        assert translation is not None
        forms = [form.text or "" for form in translation.iter("numerusform")] or [translation.text or ""]
        yield message.findtext("source", ""), translation.get("type", ""), forms


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_every_text_is_translated_into_chinese() -> None:
    done = {source for source, kind, forms in messages(CHINESE) if not kind and all(forms)}
    missing = [f"{text.place}: {text.text}" for text in [*collect(APP_DIR), *OF_QT] if text.text not in done]
    assert missing == [], "Run packaging/translations/update, then translate these with Qt Linguist."


@pytest.mark.parametrize("ts", sorted(TRANSLATIONS_DIR.glob("*.ts")), ids=lambda ts: ts.stem)
def test_translations_have_the_fields_and_the_mnemonic_of_their_text(ts: Path) -> None:
    wrong = [
        (source, form)
        for source, kind, forms in messages(ts)
        if kind != "vanished"
        for form in filter(None, forms)
        if fields(form) != fields(source) or bool(MNEMONIC.search(form)) != bool(MNEMONIC.search(source))
    ]
    assert wrong == []


@pytest.mark.parametrize("ts", sorted(TRANSLATIONS_DIR.glob("*.ts")), ids=lambda ts: ts.stem)
def test_what_is_loaded_is_what_was_translated(ts: Path) -> None:
    translator = QTranslator()
    assert translator.load(str(ts.with_suffix(".qm")))

    def loaded(source: str) -> set[str]:
        contexts = {CONTEXT, *(text.context for text in OF_QT)}
        return {
            translator.translate(context, source, None, 1 if "{n}" in source else -1) for context in contexts
        }

    stale = [source for source, kind, forms in messages(ts) if not kind and not loaded(source) & set(forms)]
    assert stale == [], "Run packaging/translations/update."


def test_no_text_is_put_together_before_it_is_translated() -> None:
    """An f-string, or halves with a plus between them, would never be found in a dictionary."""
    wrong = []
    for path in sorted(APP_DIR.rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                is_ours = call.func.id in ("tr", "tr_n", "mark", "said")
                if is_ours and any(isinstance(one, ast.JoinedStr | ast.BinOp) for one in call.args[:2]):
                    wrong.append(f"{path.name}:{call.lineno}")
    assert wrong == []
