"""Two rules for markdown-it: only existing footnotes are referenced, and `- [x]` is a check box.

Pure functions, any thread.
"""

import re

from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

_REFERENCE = re.compile(r"\[\^([^\]\s]+)\]")
_BOX = re.compile(r"\[([ xX])\][ \t]+")


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
        if first.type == "text" and (box := _BOX.match(first.content)):
            first.content = first.content[box.end() :]
            inline.children.insert(0, Token("task_box", "", 0, info=box[1].strip()))
