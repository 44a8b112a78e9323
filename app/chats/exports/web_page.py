"""A chat as one self-contained HTML file: no scripts or fonts; light or dark. Any thread.

The text is not trusted. It is rendered from Markdown with raw HTML shown as text; links lead to http, https
and mailto only, pictures in it become links, and the page itself forbids loading anything. Pictures that
were attached stand in the page.
"""

import html
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from app.chats.attachment import Attachment
from app.chats.chat import Chat
from app.chats.exports.spoken import (
    ExportWords,
    Spoken,
    call_title,
    data_url,
    date_of,
    outcome,
    spoken,
    title_of,
)
from app.chats.markdown_rules import rules_plugin
from app.chats.math_syntax import closing_of, math_plugin
from app.chats.tool_use import ToolRound
from app.protocol.media import MediaKind

MAX_RENDERED_CHARS = 500_000  # of one message; a longer one is shown as it was written
_SAFE_SCHEMES = ("http://", "https://", "mailto:", "#")


def as_text(chat: Chat, words: ExportWords) -> str:
    title = html.escape(title_of(chat, words))
    body = "\n".join(_parts(chat, words))
    return _PAGE.replace("@style@", _STYLE).replace("@title@", title).replace("@body@", body)


def _parts(chat: Chat, words: ExportWords) -> Iterator[str]:
    yield f'<p class="meta">{html.escape(words.exported_from)} · {date_of(chat.created_at)}</p>'
    if chat.is_notebook:
        yield _as_written(chat.text)
        return
    if chat.system_prompt:
        yield _folded(words.system_prompt, _as_written(chat.system_prompt))
    for each in spoken(chat, words):
        yield _turn(each, words)


def _turn(each: Spoken, words: ExportWords) -> str:
    meta = " · ".join(html.escape(part) for part in (each.model, each.at) if part)
    parts = [f'<p class="who"><b>{html.escape(each.speaker)}</b> <span class="meta">{meta}</span></p>']
    parts += [_attached(file, words) for file in each.attachments]
    for round_ in each.rounds:
        parts += _round(round_, words)
    if each.thinking:
        parts.append(_folded(words.thinking, _rendered(each.thinking)))
    if each.text:
        parts.append(_rendered(each.text))
    if each.notice:
        parts.append(f'<p class="meta">{html.escape(each.notice)}</p>')
    if each.summary:
        parts.append(_folded(words.summary, _rendered(each.summary)))
    return f'<article class="{each.role}">\n' + "\n".join(parts) + "\n</article>"


def _round(round_: ToolRound, words: ExportWords) -> Iterator[str]:
    if round_.reasoning:
        yield _folded(words.thinking, _rendered(round_.reasoning))
    if round_.content:
        yield _rendered(round_.content)
    for use in round_.uses:
        yield _folded(call_title(use, words), _as_written(use.arguments) + _as_written(outcome(use)))


def _attached(file: Attachment, words: ExportWords) -> str:
    if not file.media:
        return _folded(words.attached(file), _as_written(file.text))
    name = html.escape(file.name)
    if not file.media.file:
        return f'<p class="meta">{name}</p>'
    if file.media.kind is MediaKind.PICTURE:
        return f'<img src="{data_url(file)}" alt="{name}">'
    return f'<figure><audio controls src="{data_url(file)}"></audio><figcaption>{name}</figcaption></figure>'


def _folded(summary: str, inner: str) -> str:
    return f"<details>\n<summary>{html.escape(summary)}</summary>\n{inner}\n</details>"


def _as_written(text: str) -> str:
    return f'<pre class="written">{html.escape(text)}</pre>'


def _rendered(text: str) -> str:
    if len(text) > MAX_RENDERED_CHARS:
        return _as_written(text)
    return str(_parser().render(text)).strip()


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    rules_plugin(parser)
    math_plugin(parser)
    parser.validateLink = lambda url: url.strip().lower().startswith(_SAFE_SCHEMES)  # type: ignore[method-assign]
    parser.add_render_rule("image", _picture_as_link)
    parser.add_render_rule("blockquote_open", _quotation)
    for kind in ("math_inline", "math_block", "math_open"):
        parser.add_render_rule(kind, _formula_as_written)
    return parser


def _picture_as_link(_self: Any, tokens: Sequence[Token], index: int, *_more: Mapping[str, Any]) -> str:
    target, name = str(tokens[index].attrGet("src") or ""), tokens[index].content
    return f'<a href="{html.escape(target)}">{html.escape(name or target)}</a>'


def _quotation(_self: Any, tokens: Sequence[Token], index: int, *_more: Mapping[str, Any]) -> str:
    """An alert has its kind as a head."""
    kind = tokens[index].info.capitalize()
    return f"<blockquote>\n<p><strong>{kind}</strong></p>\n" if kind else "<blockquote>\n"


def _formula_as_written(_self: Any, tokens: Sequence[Token], index: int, *_more: Mapping[str, Any]) -> str:
    token = tokens[index]
    written = html.escape(f"{token.markup}{token.content}{closing_of(token.markup)}")
    return f'<pre class="written">{written}</pre>\n' if token.block else f"<code>{written}</code>"


_PAGE = """<!DOCTYPE html>
<html>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>@title@</title>
<style>
@style@</style>
</head>
<body>
<h1 dir="auto">@title@</h1>
@body@
</body>
</html>
"""
_STYLE = """:root { --page: #fdfdfc; --raised: #eeeeeb; --text: #1d1f21; --muted: #5f6366; --line: #dddedb;
  --accent: #0f6e69; }
@media (prefers-color-scheme: dark) { :root { --page: #17191b; --raised: #282c2f; --text: #e6e7e6;
  --muted: #a3a8ab; --line: #363b3e; --accent: #5cc0b4; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 46rem; padding: 2rem 1rem 4rem; background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0; }
article { margin: 2rem 0 0; }
article h1, article h2, article h3, article h4 { font-size: 1.1rem; margin: 1.2em 0 .4em; }
article.user { background: var(--raised); border-radius: 8px; padding: .75rem 1rem; }
p, li, blockquote, td, th, h1, h2, h3, h4 { unicode-bidi: plaintext; text-align: start; }
article > :last-child { margin-bottom: 0; }
img { max-width: 100%; max-height: 80vh; border-radius: 8px; }
figure { margin: 0; }
.who { margin: 0 0 .5rem; }
.meta { color: var(--muted); font-size: .85rem; font-weight: normal; }
a { color: var(--accent); }
pre, code { font-family: ui-monospace, monospace; font-size: .9em; }
pre { background: var(--raised); border-radius: 8px; padding: .75rem 1rem; overflow-x: auto; }
pre.written { white-space: pre-wrap; font-family: inherit; font-size: 1em; }
article.user pre { background: var(--page); }
:not(pre) > code { background: var(--raised); border-radius: 4px; padding: .1em .3em; }
details { border-left: 2px solid var(--line); margin: .5rem 0; padding-left: .75rem; color: var(--muted); }
summary { cursor: pointer; }
blockquote { border-left: 3px solid var(--line); margin: 1em 0; padding-left: 1rem; color: var(--muted); }
table { border-collapse: collapse; display: block; overflow-x: auto; }
td, th { border-bottom: 1px solid var(--line); padding: .3rem .75rem .3rem 0; }
hr { border: none; border-top: 1px solid var(--line); }
@media print { article { break-inside: avoid-page; } details:not([open]) > summary { color: var(--muted); } }
"""
