"""Turns Markdown from a model into blocks: HTML for Qt's text views, and code.

Knows no widget and no colour. The text is not trusted: raw HTML stays text, nothing is loaded, links lead
only to http, https and mailto. No word is ever lost: a block in which the rendering would swallow something
(too many cells in a table row, say) is shown as it was written. Pure functions, any thread.
"""

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

FOLD_AFTER = 500
SAFE_SCHEMES = ("http://", "https://", "mailto:")
MAX_QUOTE_FRAMES = 3  # nested tables cost Qt's layout exponentially

_URL = re.compile(r"https?://[^\s<>\"']*[^\s<>\"'.,;:!?)\]}*_]")
_LONG_RUN = re.compile(rf"\S{{{FOLD_AFTER}}}(?=\S)")
# U+FDD0.. and U+FFFC mean frames and objects inside a QTextDocument.
_RESERVED = re.compile("[\ufdd0-\ufdef\ufffc\x00]")
_NOT_WORD = re.compile(r"[\W_]+")


class BlockKind(StrEnum):
    PROSE = "prose"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Block:
    """One top-level block, from offset `start` of the source on. Code has no HTML, prose no code."""

    kind: BlockKind
    start: int
    html: str = ""
    code: str = ""
    info: str = ""
    is_closed: bool = True


def parse_blocks(source: str) -> list[Block]:
    """The blocks of `source` in order. A fence that has not ended yet is code that is not closed."""
    tokens = _parser.parse(source)
    starts = _line_starts(source)
    return [_block(source, starts, group) for group in _top_level(tokens)]


def fold(text: str) -> str:
    """Gives long unbroken runs places to wrap: Qt's layout takes quadratic time for one without."""
    return _LONG_RUN.sub("\\g<0>\u200b", _RESERVED.sub("\ufffd", text))


def unfold(text: str) -> str:
    return text.replace("\u200b", "")


def is_safe_link(target: str) -> bool:
    return target.lower().startswith(SAFE_SCHEMES)


def letters(text: str) -> str:
    """Letters and digits only: what must not get lost."""
    return _NOT_WORD.sub("", text)


def _line_starts(source: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer("\r\n|\r|\n", source))]


def _top_level(tokens: Sequence[Token]) -> Iterable[list[Token]]:
    group: list[Token] = []
    for token in tokens:
        group.append(token)
        if token.level == 0 and token.nesting <= 0:
            yield group
            group = []


def _block(source: str, starts: list[int], tokens: list[Token]) -> Block:
    first, last = tokens[0].map or [0, 0]
    start = starts[first]
    end = starts[last] if last < len(starts) else len(source)
    if tokens[0].type == "fence":
        return _code_block(tokens[0], start, source[start:end])
    return Block(BlockKind.PROSE, start, html=_safe_html(source[start:end], tokens))


def _code_block(token: Token, start: int, written: str) -> Block:
    lines = written.strip().splitlines()
    is_closed = len(lines) > 1 and lines[-1].strip().startswith(token.markup)
    return Block(BlockKind.CODE, start, code=token.content, info=token.info.strip(), is_closed=is_closed)


def _safe_html(written: str, tokens: list[Token]) -> str:
    if _keeps_everything(written, tokens):
        return str(_parser.renderer.render(tokens, _parser.options, {})).strip()
    return f'<p style="white-space: pre-wrap">{html.escape(fold(written.rstrip()))}</p>'


def _keeps_everything(written: str, tokens: list[Token]) -> bool:
    shown = letters("".join(_shown(tokens)))
    return shown == letters(written) or shown == letters(html.unescape(written))


def _shown(tokens: Iterable[Token]) -> Iterable[str]:
    """What of the source the tokens still hold, in its order."""
    targets: list[str] = []
    for token in tokens:
        if token.type == "list_item_open" or token.type == "fence":
            yield token.info
        if token.type == "image":
            yield f"{token.content} {_target(token)}"
        elif token.children is not None:
            yield from _shown(token.children)
        elif token.type == "text_special":
            yield token.markup
        elif token.type == "link_open":
            targets.append("" if token.info == "auto" else _target(token))
        elif token.type == "link_close":
            yield targets.pop()
        else:
            yield token.content


def _target(token: Token) -> str:
    """Where a link or an image points to, and its title."""
    target = str(token.attrs.get("href") or token.attrs.get("src") or "")
    return f"{target} {token.attrs.get('title', '')}".strip()


class _QtRenderer(RendererHTML):
    """Writes the HTML subset that Qt lays out. Colours and spaces come from the view's style sheet."""

    def text(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, env: EnvType) -> str:
        content = tokens[idx].content
        return _escaped(content) if env.get("targets") else _with_links(content)

    def text_special(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: EnvType) -> str:
        return _escaped(tokens[idx].content)

    def code_inline(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: EnvType) -> str:
        return f"<code>{_escaped(tokens[idx].content)}</code>"

    def fence(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: EnvType) -> str:
        info = f"{_escaped(tokens[idx].info.strip())}\n" if tokens[idx].info.strip() else ""
        return f"<pre>{info}{_escaped(tokens[idx].content.rstrip())}</pre>"

    def code_block(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: EnvType) -> str:
        return f"<pre>{_escaped(tokens[idx].content.rstrip())}</pre>"

    def link_open(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, env: EnvType) -> str:
        target = str(tokens[idx].attrs.get("href", ""))
        title = str(tokens[idx].attrs.get("title", ""))
        safe = is_safe_link(target)
        env.setdefault("targets", []).append((safe, target, title))
        return f'<a href="{html.escape(target)}">' if safe else ""

    def link_close(self, _tokens: Sequence[Token], _idx: int, _options: OptionsDict, env: EnvType) -> str:
        safe, target, title = env["targets"].pop()
        rest = " ".join(part for part in ("" if safe else target, title) if part)
        return ("</a>" if safe else "") + (f" ({_escaped(rest)})" if rest else "")

    def image(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: EnvType) -> str:
        token = tokens[idx]
        return f"{_escaped(token.content)} ({_with_links(_target(token))})"

    def list_item_open(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: EnvType) -> str:
        """Keeps the numbers as they were written: Qt would count on from the first."""
        number, before = tokens[idx].info, _previous_item(tokens, idx)
        if not number or before is None or int(number) == int(before.info) + 1:
            return "<li>"
        return f'</ol><ol start="{int(number)}"><li>'

    def blockquote_open(
        self, _tokens: Sequence[Token], _idx: int, _options: OptionsDict, env: EnvType
    ) -> str:
        env["quotes"] = env.get("quotes", 0) + 1
        return '<table class="quote"><tr><td>' if env["quotes"] <= MAX_QUOTE_FRAMES else "<div>"

    def blockquote_close(
        self, _tokens: Sequence[Token], _idx: int, _options: OptionsDict, env: EnvType
    ) -> str:
        env["quotes"] -= 1
        return "</td></tr></table>" if env["quotes"] < MAX_QUOTE_FRAMES else "</div>"

    def table_open(self, _tokens: Sequence[Token], _idx: int, _options: OptionsDict, _env: EnvType) -> str:
        return '<table class="grid" border="1" cellspacing="0" cellpadding="5">'

    def th_open(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: EnvType) -> str:
        return f"<th{_alignment(tokens[idx])}>"

    def td_open(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: EnvType) -> str:
        return f"<td{_alignment(tokens[idx])}>"


def _previous_item(tokens: Sequence[Token], idx: int) -> Token | None:
    level = tokens[idx].level
    for token in reversed(tokens[:idx]):
        if token.level < level:
            return None
        if token.level == level and token.type == "list_item_open":
            return token
    return None


def _alignment(token: Token) -> str:
    """As an attribute: with `style` Qt drops the cell's border."""
    style = str(token.attrs.get("style", "text-align:left"))
    return f' align="{style.removeprefix("text-align:")}"'


def _escaped(text: str) -> str:
    return html.escape(fold(text))


def _with_links(text: str) -> str:
    """Escaped, with the web addresses in it made links."""
    parts, end = [], 0
    for match in _URL.finditer(text):
        url = match.group()
        parts += [_escaped(text[end : match.start()]), f'<a href="{html.escape(url)}">{_escaped(url)}</a>']
        end = match.end()
    return "".join([*parts, _escaped(text[end:])])


def _make_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}, renderer_cls=_QtRenderer)
    parser.enable(["table", "strikethrough"])
    # References would vanish from the text, and `text_join` would forget how an entity was written.
    parser.disable(["reference", "text_join"])
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    parser.normalizeLinkText = lambda link: link  # type: ignore[method-assign]
    return parser


_parser = _make_parser()
