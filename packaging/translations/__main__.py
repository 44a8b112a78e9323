"""Brings the translations up to date with the code, by Qt's own lupdate and lrelease."""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import PySide6

from app.look.language import TRANSLATIONS_DIR
from translations.collect import OF_QT, Text, collect

APP_DIR = Path(__file__).resolve().parents[2] / "app"
QT_TOOLS = Path(PySide6.__file__).parent


def main() -> int:
    parser = argparse.ArgumentParser(prog="packaging/translations/update", description=__doc__)
    parser.add_argument("language", nargs="*", help="the code of a new language, such as de or pt_BR")
    new = [TRANSLATIONS_DIR / f"skein_{code}.ts" for code in parser.parse_args().language]
    update(as_source([*collect(APP_DIR), *OF_QT]), sorted({*TRANSLATIONS_DIR.glob("skein_*.ts"), *new}))
    return 0


def update(source: str, files: list[Path]) -> None:
    """Brings the .ts `files` up to date with `source`, and their .qm with them."""
    with tempfile.TemporaryDirectory() as folder:
        texts = Path(folder) / "texts.cpp"
        texts.write_text(source, encoding="utf-8")
        for file in files:
            languages = "-source-language", "en", "-target-language", file.stem.removeprefix("skein_")
            _run("lupdate", texts, "-locations", "none", *languages, "-ts", file)
            # In one step: a Skein that runs reads the one it began with until it ends, and would crash.
            compiled = file.with_suffix(".qm.new")
            _run("lrelease", file, "-qm", compiled)
            compiled.replace(file.with_suffix(".qm"))


def as_source(texts: list[Text]) -> str:
    """C++ for lupdate: it knows how to merge with what is translated."""
    return "\n".join(map(_line, texts))


def _line(text: Text) -> str:
    macro = "QT_TRANSLATE_N_NOOP" if text.is_counted else "QT_TRANSLATE_NOOP"
    return (
        f"//: {text.place}\n{macro}({json.dumps(text.context)}, {json.dumps(text.text, ensure_ascii=False)})"
    )


def _run(tool: str, *arguments: object) -> None:
    subprocess.run([QT_TOOLS / tool, *map(str, arguments)], check=True)


if __name__ == "__main__":
    sys.exit(main())
