"""Where we read Markdown otherwise than CommonMark and GitHub do: rules for markdown-it. Any thread.

Emphasis may begin and end beside the punctuation of Chinese, Japanese and Korean, which have no spaces: as in
https://github.com/tats-u/markdown-cjk-friendly, see https://github.com/commonmark/commonmark-spec/issues/650.
A row of a table keeps all its cells. Few tags are known, without attributes: `<br>`, `<sup>`, `<sub>`,
`<kbd>`, `<details>` and `<summary>`; other HTML stays text. A quotation may be an alert, as on GitHub:
`> [!NOTE]`.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.common.utils import isMdAsciiPunct, isPunctChar, isWhiteSpace
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_block import StateBlock, table
from markdown_it.rules_block.table import escapedSplit
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Scanned
from markdown_it.token import Token
from markdown_it.utils import EnvType

from app.chats.math_syntax import formula_at

MAX_ROW_CHARS = 4_000  # of a table: a longer one is divided at each bar

_CODE = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)")
_BREAK = re.compile(r"<(br) {0,8}/?>", re.IGNORECASE)
_RAISED = re.compile(r"<(sup|sub|kbd)>([^<>\n]{1,200})</\1>", re.IGNORECASE)
_SECTION = re.compile(r"<details(?: open)?>[ \t]*+", re.IGNORECASE)
_SUMMARY = re.compile(
    r"((?:<details(?: open)?>[ \t]*+)?<summary>)(.{1,500}?)(</summary>[ \t]*+(?:</details>[ \t]*+)?)",
    re.IGNORECASE,
)
_SECTION_END = re.compile(r"</details>[ \t]*+", re.IGNORECASE)
_ALERT = re.compile(r"\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\][ \t]*(?:\n|\Z)", re.IGNORECASE)
_MAY_HIDE_BARS = re.compile(r"[`$]|\\[(\[]")
_BELOW_HEAD = re.compile(r"(?=.*-)[\s|:-]+")
_TICKS = re.compile("`*")


def rules_plugin(parser: MarkdownIt) -> None:
    """For a parser without other plugins yet."""
    inline = _Inline()
    inline.ruler, inline.ruler2 = parser.inline.ruler, parser.inline.ruler2
    parser.inline = inline
    parser.inline.ruler.before("autolink", "line_break", _line_break)
    parser.inline.ruler.before("autolink", "raised", _raised)
    parser.block.ruler.at("table", whole_table, {"alt": ["paragraph", "reference"]})
    parser.block.ruler.before("heading", "details", _details, {"alt": ["paragraph", "blockquote", "list"]})
    parser.core.ruler.before("inline", "alerts", _alerts)


def whole_table(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    first_token = len(state.tokens)
    if not (
        table(state, start_line, end_line, silent) or _table_below_bars(state, start_line, end_line, silent)
    ):
        return False
    row: list[Token] = []
    for token in state.tokens[first_token:]:
        if token.type == "inline":
            row.append(token)
        elif token.type == "tr_close":
            _take_all_cells(state, row)
            row = []
    return True


def _table_below_bars(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """A table in whose head a bar stands in code or a formula."""
    start, end = state.bMarks[start_line], state.eMarks[start_line]
    head = state.src[start:end]
    if start_line + 2 > end_line or len(head) > MAX_ROW_CHARS or not _MAY_HIDE_BARS.search(head):
        return False
    if not _BELOW_HEAD.fullmatch(state.src, state.bMarks[start_line + 1], state.eMarks[start_line + 1]):
        return False
    source, bars = state.src, {start + bar for bar in _bars_outside(head)}
    masked = "".join(
        "|" if start + at in bars else "." if letter == "|" else letter for at, letter in enumerate(head)
    )
    state.src = source[:start] + masked + source[end:]
    is_table = table(state, start_line, end_line, silent)
    state.src = source
    return is_table


def _take_all_cells(state: StateBlock, row: Sequence[Token]) -> None:
    """Takes the cells too many in a row, too, which the rule of tables drops."""
    assert row[0].map
    line = state.src[state.bMarks[row[0].map[0]] : state.eMarks[row[0].map[0]]].strip()
    if line.count("|") - line.startswith("|") - line.endswith("|") < len(row):
        return
    plain = _within_borders(escapedSplit(line))
    if len(plain) <= len(row):
        return
    cells = _within_borders(_split_outside(line)) if len(line) <= MAX_ROW_CHARS else []
    cells = cells if len(cells) >= len(row) else plain
    cells[len(row) - 1 :] = ["|".join(cells[len(row) - 1 :])]
    for token, cell in zip(row, cells, strict=True):
        token.content = cell.strip()


def _within_borders(cells: list[str]) -> list[str]:
    return cells[cells[0] == "" : len(cells) - (cells[-1] == "")]


def _split_outside(line: str) -> list[str]:
    bars = [-1, *_bars_outside(line), len(line)]
    return [line[start + 1 : end].replace("\\|", "|") for start, end in pairwise(bars)]


def _bars_outside(line: str) -> Iterator[int]:
    """Bars that are neither escaped nor in code or a formula."""
    at = 0
    while at < len(line):
        formula = formula_at(line, at)
        code = _CODE.match(line, at)
        if formula or code:
            at = formula[2] if formula else code.end()  # type: ignore[union-attr]
            continue
        if line[at] == "|":
            yield at
        at += 2 if line[at] == "\\" else len(_TICKS.match(line, at)[0]) or 1  # type: ignore[index]


def _line_break(state: StateInline, silent: bool) -> bool:
    found = _BREAK.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        state.push("hardbreak", "br", 0).content = found[1]
    state.pos = found.end()
    return True


def _raised(state: StateInline, silent: bool) -> bool:
    """Higher, lower, or a key. What is inside may have marks of its own, but no other tag."""
    found = _RAISED.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        name, last = found[1].lower(), state.posMax
        state.push(f"{name}_open", name, 1).content = found[1]
        state.pos, state.posMax = found.span(2)
        state.md.inline.tokenize(state)
        state.push(f"{name}_close", name, -1).content = found[1]
        state.posMax = last
    state.pos = found.end()
    return True


def _details(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """A summary with what opens its section, or the end of one: lines of these tags alone.

    The section is shown unfolded, with its summary as a head. What is inside is no part of the block, however
    deep sections stand in sections.
    """
    line, last = _line(state, start_line), start_line
    if not line.startswith("<") or state.is_code_block(start_line):
        return False
    if _SECTION.fullmatch(line) and last + 1 < end_line:
        last += 1
        line += _line(state, last)
    summary = _SUMMARY.fullmatch(line)
    if not (summary or _SECTION_END.fullmatch(line)):
        return False
    if not silent:
        state.line = last + 1
        _push_section(state, line, summary, [start_line, last + 1])
    return True


def _push_section(state: StateBlock, line: str, summary: re.Match[str] | None, place: list[int]) -> None:
    if summary is None:
        end = state.push("details_end", "", 0)
        end.content, end.map, end.hidden = line, place, True
        return
    opens, inside = state.push("summary_open", "p", 1), state.push("inline", "", 0)
    opens.content, opens.map = summary[1], place
    inside.content, inside.map, inside.children = summary[2].strip(), place, []
    state.push("summary_close", "p", -1).content = summary[3]


def _line(state: StateBlock, number: int) -> str:
    return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]]


def _alerts(state: StateCore) -> None:
    """The quotation's `info` says of which kind it is."""
    for quote, _paragraph, inside in zip(state.tokens, state.tokens[1:], state.tokens[2:], strict=False):
        if quote.type == "blockquote_open" and (found := _ALERT.match(inside.content)):
            quote.info, quote.content = found[1].lower(), found[1]
            inside.content = inside.content[found.end() :]


class _Inline(ParserInline):
    def parse(self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token]) -> list[Token]:
        state = _State(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


class _State(StateInline):
    def scanDelims(self, start: int, canSplitWord: bool) -> Scanned:  # noqa: N802, N803 (markdown-it's names)
        scanned = super().scanDelims(start, canSplitWord)
        end = start + scanned.length
        before = self.src[start - 1] if start else " "
        after = self.src[end] if end < self.posMax else " "
        if "\ufe00" <= before <= "\ufe0e" and start > 1:  # selects a form of the character before it
            before = self.src[start - 2]
        if not is_cjk(before) and not is_cjk(after):
            return scanned
        opens_before = isWhiteSpace(ord(before)) or _is_mark(before) or is_cjk(before)
        closes_after = isWhiteSpace(ord(after)) or _is_mark(after) or is_cjk(after)
        can_open = not isWhiteSpace(ord(after)) and (not _is_mark(after) or is_cjk(after) or opens_before)
        can_close = not isWhiteSpace(ord(before)) and (not _is_mark(before) or is_cjk(before) or closes_after)
        return Scanned(
            can_open and (canSplitWord or not can_close or _is_mark(before)),
            can_close and (canSplitWord or not can_open or _is_mark(after)),
            scanned.length,
        )


def _is_mark(character: str) -> bool:
    return isMdAsciiPunct(ord(character)) or isPunctChar(character)


@lru_cache(maxsize=1024)
def is_cjk(character: str) -> bool:
    """Wide, of Hangul, or the selector of a form of such a character. Emoji are wide, too, but none."""
    code = ord(character)
    if (
        0x1100 <= code < 0x1200
        or 0xA960 <= code < 0xA980
        or 0xD7B0 <= code < 0xD800
        or 0xE0100 <= code < 0xE01F0
    ):
        return True
    is_emoji = unicodedata.category(character) in ("So", "Sk") and not 0x2E80 <= code < 0x1F000
    return unicodedata.east_asian_width(character) in "WFH" and not is_emoji
