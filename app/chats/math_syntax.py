r"""Finds formulas in Markdown: `$…$`, `\(…\)`, `$$…$$`, `\[…\]` and bare `\begin{align}` environments.

Rules for markdown-it: they make tokens of the kinds `math_inline` and `math_block`, whose content is the
LaTeX and whose markup is what opened it. One that has not ended is `math_open`, to be shown as written.
Prices and shell variables are no formulas. Pure functions, any thread.
"""

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

MAX_INLINE_CHARS = 4_000

_CLOSES = {"$$": "$$", "\\[": "\\]", "\\(": "\\)"}
# Pandoc's rules: no space inside the dollars. A letter or digit after them tells a price or a variable, but
# not in "the $n$th".
_DOLLARS = re.compile(r"\$(?=[^\s$])((?:\\.|[^\\$\n])*)(?<![\s\\])\$(?=(?:th|st|nd|rd|s)\b|\W|\Z)")
_PRICE = re.compile(r"[\d.,]+[kKmM]?\s+[^\W\d_]{2,}")
_ENVIRONMENT = re.compile(
    r"\\begin\{((?:equation|align|alignat|flalign|gather|multline|eqnarray|cases|[pbBvV]?matrix)\*?)\}"
)


def closing_of(markup: str) -> str:
    """What ends a formula that `markup` opened."""
    return _CLOSES.get(markup, markup)


def math_plugin(parser: MarkdownIt) -> None:
    parser.block.ruler.before(
        "fence", "math_block", _math_block, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    parser.inline.ruler.before("escape", "math_inline", _math_inline)


def _math_inline(state: StateInline, silent: bool) -> bool:
    found = formula_at(state.src, state.pos)
    if found is None:
        return False
    markup, content, end = found
    if not silent:
        token = state.push("math_inline", "math", 0)
        token.content, token.markup = content, markup
    state.pos = end
    return True


def formula_at(text: str, start: int) -> tuple[str, str, int] | None:
    """Its opening mark, its content, its end."""
    mark = text[start : start + 2]
    if closes := _CLOSES.get(mark):
        end = text.find(closes, start + 2, start + MAX_INLINE_CHARS)
        content = text[start + 2 : end]
        return (mark, content, end + 2) if end > 0 and content.strip() else None
    if not mark.startswith("$") or (start > 0 and (text[start - 1].isalnum() or text[start - 1] in "$\\")):
        return None
    found = _DOLLARS.match(text, start, start + MAX_INLINE_CHARS)
    return ("$", found[1], found.end()) if found and not _PRICE.match(found[1]) else None


def _math_block(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """A formula that begins its line and ends one. Before its end a blank line ends it, too."""
    if state.is_code_block(start_line):
        return False
    marks = _block_marks(_line(state, start_line))
    if marks is None:
        return False
    opens, closes = marks
    lines: list[str] = []
    for line in _lines_of_block(state, start_line, end_line):
        lines.append(line)
        written = "\n".join(lines).strip()
        if closes in (line if len(lines) > 1 else line[len(opens) :]):
            return written.endswith(closes) and _push(state, "math_block", written, marks, len(lines), silent)
    return _push(state, "math_open", "\n".join(lines), marks, len(lines), silent)


def _block_marks(line: str) -> tuple[str, str] | None:
    if line[:2] in ("$$", "\\["):
        return line[:2], _CLOSES[line[:2]]
    environment = _ENVIRONMENT.match(line)
    return (environment[0], f"\\end{{{environment[1]}}}") if environment else None


def _lines_of_block(state: StateBlock, start_line: int, end_line: int) -> Iterator[str]:
    for number in range(start_line, end_line):
        if number > start_line and (state.isEmpty(number) or state.sCount[number] < state.blkIndent):
            return
        yield _line(state, number)


def _line(state: StateBlock, number: int) -> str:
    return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]]


def _push(
    state: StateBlock, kind: str, written: str, marks: tuple[str, str], num_lines: int, silent: bool
) -> bool:
    if silent:
        return True
    opens, closes = marks
    is_whole = kind == "math_open" or opens.startswith("\\begin")
    token = state.push(kind, "math", 0)
    token.block = True
    token.content = written if is_whole else written.removeprefix(opens).removesuffix(closes)
    token.markup = "" if is_whole else opens
    token.map = [state.line, state.line + num_lines]
    state.line += num_lines
    return True
