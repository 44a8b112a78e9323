"""Renders markdown-it's tokens as HTML for Qt, and ensures that no word is lost.

Knows no widget and no colour. HTML stays text but for a few tags (`markdown_rules`), nothing is loaded, links
lead only to http, https and mailto, invisible and direction-changing characters are spelled out. A block in
which rendering would drop something is shown as it was written. For the view, formulas are left as
`<math open="$">x^2</math>`, and code in a list has a `<copy code="…">`. Pure functions, any thread.
"""

import html
import re
from collections.abc import Iterable, Sequence

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore, block, normalize
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from mdit_py_plugins.footnote.index import footnote_def

from app.chats.markdown_rules import is_cjk, rules_plugin, whole_table
from app.chats.math_syntax import math_plugin
from app.look.words import mark, tr
from app.ui.base.hidden_characters import BADGE, mark_hidden
from app.ui.message.code_colours import ColourRun, coloured_lines, is_known
from app.ui.message.folding import fold, without_reserved

SAFE_SCHEMES = ("http://", "https://", "mailto:")
MAX_QUOTE_FRAMES = 3  # one within the other: the text needs room, too
MAX_COLUMNS = 100
MAX_CELLS = 1_500  # of what is read at once
MAX_COLOURED_CHARS = 2_000  # of code in a list or a quotation

# What is left for the view.
MATH = re.compile(r'<math open="([^"]*)">([^<]*)</math>')
COPY = re.compile(r'<copy code="([^"]*)">')
_CLOSES = {"\\(": "\\)", "\\[": "\\]"}
_ALERTS = {
    "note": mark("Note"),
    "tip": mark("Tip"),
    "important": mark("Important"),
    "warning": mark("Warning"),
    "caution": mark("Caution"),
}

# Marks outside code and formulas: ticks that have no end, stars.
_OPEN_MARKS = re.compile(
    r"\\.|(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)|\$[^$\n]+\$|(?P<ticks>`+)|(?P<stars>\*+)", re.DOTALL
)

_URL = re.compile(r"(?:https?://|(?<![\w/@.-])www\.(?=[^\s.]+\.))[^\s<>\"']*[^\s<>\"'.,;:!?)\]}*_]")
_MARKS = re.compile(r"[\s!-/:-@\[-`{-~\x00-\x1f\x7f]+")  # spaces, controls and the punctuation of ASCII


def formula_source(opens: str, latex: str) -> str:
    """The formula as it was written, with its dollars or brackets."""
    return f"{opens}{latex}{_CLOSES.get(opens, opens)}" if opens else latex


def parse(source: str, env: EnvType) -> list[Token]:
    return _parser.parse(source, env)


def parse_outline(source: str) -> list[Token]:
    """Which blocks there are, without the inside of paragraphs: that takes most of the time."""
    state = StateCore(source, _parser, {})
    normalize(state)
    block(state)
    return state.tokens


def parse_inline(source: str, env: EnvType) -> list[Token]:
    """The inside of a paragraph."""
    return _parser.parseInline(source, env)


def safe_html(written: str, tokens: list[Token]) -> str:
    if _keeps_everything(written, tokens):
        return str(_parser.renderer.render(tokens, _parser.options, {})).strip()
    return f'<p style="white-space: pre-wrap">{_escaped(written.rstrip())}</p>'


def _keeps_everything(written: str, tokens: list[Token]) -> bool:
    shown = letters("".join(_shown(tokens)))
    return shown == letters(written) or shown == letters(html.unescape(written))


_REFERENCE = re.compile(r"\[\^([^\]\s]+)\]")
_TASK_BOX = re.compile(r"\[([ xX])\][ \t]+")


def footnote_reference(state: StateInline, silent: bool) -> bool:
    """`[^1]`, if there is such a footnote anywhere: else it may be a regular expression."""
    found = _REFERENCE.match(state.src, state.pos)
    if found is None or f":{found[1]}" not in state.env.get("footnotes", {}).get("refs", {}):
        return False
    if not silent:
        token = state.push("footnote_ref", "", 0)
        token.meta = {"label": found[1]}
    state.pos = found.end()
    return True


def task_box(state: StateCore) -> None:
    """Takes the boxes at the start of list items out of their text."""
    for item, paragraph, inline in zip(state.tokens, state.tokens[1:], state.tokens[2:], strict=False):
        if item.type != "list_item_open" or paragraph.type != "paragraph_open" or not inline.children:
            continue
        first = inline.children[0]
        if first.type == "text" and (box := _TASK_BOX.match(first.content)):
            first.content = first.content[box.end() :]
            inline.children.insert(0, Token("task_box", "", 0, info=box[1].strip()))


def close_end(state: StateCore) -> None:
    """Closes what is bold or code where the text ends, if it still grows: `is_growing` of the environment."""
    begun = (token for token in reversed(state.tokens) if token.nesting >= 0)
    last = next((token for token in begun if token.content or token.type not in ("inline", "td_open")), None)
    if state.env.get("is_growing") and last is not None and last.type == "inline":
        last.content = _closed(last.content)


def _closed(text: str) -> str:
    """Half a mark at the end is left out. A star within a word, or beside a space, is a star."""
    open_: list[str] = []
    for found in _OPEN_MARKS.finditer(text):
        before, after = text[max(0, found.start() - 1) : found.start()], text[found.end() : found.end() + 1]
        ticks, stars = found["ticks"], found["stars"]
        if stars and open_ and open_[-1] == stars and before.strip():
            open_.pop()
        elif (ticks or stars) and not after:
            text = text[: found.start()]
        elif ticks:
            text += ticks
            break
        elif stars and after.strip() and (len(stars) > 1 or not before.strip()):
            open_.append(stars)
    return text.rstrip() + "".join(reversed(open_)) if open_ else text


def _shown(tokens: Iterable[Token]) -> Iterable[str]:
    """The text that the tokens still hold, in order."""
    targets: list[str] = []
    for token in tokens:
        if token.type in ("list_item_open", "fence", "task_box"):
            yield token.info
        elif token.type in ("footnote_ref", "footnote_reference_open"):
            yield str(token.meta["label"])
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
    """The target of a link or an image, and its title."""
    target = str(token.attrs.get("href") or token.attrs.get("src") or "")
    return f"{target} {token.attrs.get('title', '')}".strip()


def is_safe_link(target: str) -> bool:
    return target.lower().startswith(SAFE_SCHEMES)


def letters(text: str) -> str:
    """All characters that are no markup: these must not get lost."""
    return _MARKS.sub("", text)


class _QtRenderer(RendererHTML):
    """Writes the HTML subset that Qt lays out. Colours and spaces come from the view's style sheet."""

    def text(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, env: EnvType) -> str:
        content = tokens[idx].content
        return _escaped(content) if env.get("targets") else _with_links(content)

    def text_special(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: EnvType) -> str:
        return _escaped(tokens[idx].content)

    def task_box(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: EnvType) -> str:
        return "☐ " if tokens[idx].info == "" else "☑ "

    def math_inline(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: EnvType) -> str:
        opens, latex = html.escape(tokens[idx].markup), html.escape(without_reserved(tokens[idx].content))
        return f'<math open="{opens}">{latex}</math>'

    def math_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return f'<p align="center">{self.math_inline(tokens, idx, options, env)}</p>'

    def math_open(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: EnvType) -> str:
        return f"<pre>{_escaped(tokens[idx].content)}</pre>"

    def footnote_ref(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: EnvType) -> str:
        return f"<sup>{_escaped(tokens[idx].meta['label'])}</sup>"

    def footnote_reference_open(
        self, tokens: Sequence[Token], idx: int, _options: OptionsDict, env: EnvType
    ) -> str:
        env["footnote"] = f"<sup>{_escaped(tokens[idx].meta['label'])}</sup> "
        is_empty = tokens[idx + 1].type != "paragraph_open"
        return '<div class="footnote">' + (f"<p>{env.pop('footnote')}</p>" if is_empty else "")

    def footnote_reference_close(
        self, _tokens: Sequence[Token], _idx: int, _options: OptionsDict, _env: EnvType
    ) -> str:
        return "</div>"

    def paragraph_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        mark = env.pop("footnote", "")
        return f'<p class="footnote">{mark}' if mark else self.renderToken(tokens, idx, options, env)

    def heading_open(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: EnvType) -> str:
        """Fonts with Chinese have a bold face but no semibold: Qt would take the regular one for that."""
        is_bold = any(map(is_cjk, tokens[idx + 1].content))
        return f'<{tokens[idx].tag} class="cjk">' if is_bold else f"<{tokens[idx].tag}>"

    def summary_open(self, _tokens: Sequence[Token], _idx: int, _options: OptionsDict, _env: EnvType) -> str:
        return "<p><strong>▾ "

    def summary_close(self, _tokens: Sequence[Token], _idx: int, _options: OptionsDict, _env: EnvType) -> str:
        return "</strong></p>"

    def code_inline(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: EnvType) -> str:
        return f"<code>{_escaped(tokens[idx].content)}</code>"

    def fence(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: EnvType) -> str:
        """Code in a list or a quotation: at the top level it is a block of its own."""
        token = tokens[idx]
        info = token.info.strip()
        head = f'<p class="language">{_escaped(info)} <copy code="{html.escape(token.content)}"></p>'
        return _framed(f"{head}<pre>{_with_colours(token.content.rstrip(), info)}</pre>")

    def code_block(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: EnvType) -> str:
        return _framed(f"<pre>{_escaped(tokens[idx].content.rstrip())}</pre>")

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
        """Keeps the numbers as written: Qt would count on from the first."""
        number, before = tokens[idx].info, _previous_item(tokens, idx)
        opens = '<li style="list-style-type: none">' if _has_box(tokens, idx) else "<li>"
        if not number or before is None or int(number) == int(before.info) + 1:
            return opens
        return f'</ol><ol start="{int(number)}">{opens}'

    def blockquote_open(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, env: EnvType) -> str:
        """The style sheet makes a frame of it: what stands in a table, Qt lays out twice."""
        env["quotes"] = env.get("quotes", 0) + 1
        opens = '<table class="quote"><tr><td>' if env["quotes"] <= MAX_QUOTE_FRAMES else "<div>"
        if kind := tokens[idx].info:
            opens += f'<p class="{kind}"><strong>{html.escape(tr(_ALERTS[kind]))}</strong></p>'
        return opens

    def blockquote_close(
        self, _tokens: Sequence[Token], _idx: int, _options: OptionsDict, env: EnvType
    ) -> str:
        env["quotes"] -= 1
        return "</td></tr></table>" if env["quotes"] < MAX_QUOTE_FRAMES else "</div>"

    def table_open(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: EnvType) -> str:
        is_piece = any("width" in token.meta for token in tokens[idx:])
        place = 'class="grid piece" width="100%"' if is_piece else 'class="grid"'
        return f'<table {place} cellspacing="0" cellpadding="6">'

    def th_open(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: EnvType) -> str:
        return f"<th{_alignment(tokens[idx])}>"

    def td_open(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: EnvType) -> str:
        return f"<td{_alignment(tokens[idx])}>"


def _has_box(tokens: Sequence[Token], idx: int) -> bool:
    inline = tokens[idx + 2] if idx + 2 < len(tokens) else None
    return bool(inline and inline.children and inline.children[0].type == "task_box")


def _previous_item(tokens: Sequence[Token], idx: int) -> Token | None:
    level = tokens[idx].level
    for token in reversed(tokens[:idx]):
        if token.level < level:
            return None
        if token.level == level and token.type == "list_item_open":
            return token
    return None


def _alignment(token: Token) -> str:
    """An attribute, since with `style` Qt drops the cell's border."""
    style = str(token.attrs.get("style", "text-align:left"))
    width = f' width="{token.meta["width"]}%"' if "width" in token.meta else ""
    return f' align="{style.removeprefix("text-align:")}"{width}'


def _framed(rendered: str) -> str:
    place = 'class="code" width="100%" cellspacing="0" cellpadding="10"'
    return f"<table {place}><tr><td>{rendered}</td></tr></table>"


def _with_colours(code: str, info: str) -> str:
    """Escaped, with each piece of code in a class named like its ink."""
    marked = fold(mark_hidden(code))
    lines = marked.split("\n")
    language = info.split()[0].lower() if info and len(code) <= MAX_COLOURED_CHARS else ""
    runs = list(coloured_lines(marked, language)) if is_known(language) else []
    if len(runs) != len(lines):
        return _escaped(code)
    return "\n".join(_coloured(line, of_line) for line, of_line in zip(lines, runs, strict=True))


def _coloured(line: str, runs: Sequence[ColourRun]) -> str:
    parts, end = [], 0
    for run in runs:
        inked = html.escape(line[run.start : run.start + run.length])
        parts += [html.escape(line[end : run.start]), f'<span class="{run.ink}">{inked}</span>']
        end = run.start + run.length
    return "".join([*parts, html.escape(line[end:])])


def _escaped(text: str) -> str:
    marked = html.escape(fold(mark_hidden(text)))
    return BADGE.sub(r'<span class="badge">\g<0></span>', marked) if "⟦" in marked else marked


def _with_links(text: str) -> str:
    """Escaped, with web addresses turned into links."""
    if "://" not in text and "www." not in text:
        return _escaped(text)
    parts, end = [], 0
    for match in _URL.finditer(text):
        url = match.group()
        target = f"http://{url}" if url.startswith("www.") else url
        parts += [_escaped(text[end : match.start()]), f'<a href="{html.escape(target)}">{_escaped(url)}</a>']
        end = match.end()
    return "".join([*parts, _escaped(text[end:])])


def _narrow_table(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """What is wider is text, and what is longer, too: each row gets all its cells, however short it is."""
    num_columns = state.src.count("|", state.bMarks[start_line], state.eMarks[start_line]) + 1
    last = start_line + 2 + MAX_CELLS // num_columns
    return num_columns <= MAX_COLUMNS and whole_table(state, start_line, min(end_line, last), silent)


def _make_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}, renderer_cls=_QtRenderer)
    parser.enable(["table", "strikethrough"])
    rules_plugin(parser)
    parser.block.ruler.at("table", _narrow_table, {"alt": ["paragraph", "reference"]})
    # References would vanish from the text, and `text_join` would forget how an entity was written.
    parser.disable(["reference", "text_join"])
    math_plugin(parser)
    parser.block.ruler.before("reference", "footnote_def", footnote_def, {"alt": ["paragraph", "reference"]})
    parser.inline.ruler.after("image", "footnote_ref", footnote_reference)
    parser.core.ruler.before("inline", "close_end", close_end)
    parser.core.ruler.after("inline", "task_box", task_box)
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    parser.normalizeLinkText = lambda link: link  # type: ignore[method-assign]
    return parser


_parser = _make_parser()
