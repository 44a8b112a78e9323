"""Kinds of text that cost more than their length says: marks repeated, nested and multiplied, of any size."""

from collections.abc import Callable

from pygments.lexers import get_all_lexers

Kind = Callable[[int], str]


def repeated(piece: str, before: str = "", after: str = "") -> Kind:
    return lambda size: (before + piece * (size // max(1, len(piece)) + 1))[:size] + after


def lines(piece: str) -> Kind:
    return repeated(piece + "\n")


def around(opens: str, closes: str, inside: str = "x") -> Kind:
    """Nested as deep as the size allows."""

    def text(size: int) -> str:
        depth = max(1, size // (len(opens) + len(closes)))
        return opens * depth + inside + closes * depth

    return text


def table(num_columns: int, cell: str = "a", before: str = "") -> Kind:
    """Rows of so many columns; `before` each line."""

    def text(size: int) -> str:
        row = before + f"|{cell}" * num_columns + "|\n"
        head = row + before + "|-" * num_columns + "|\n"
        return head + row * max(1, (size - len(head)) // len(row))

    return text


def one_row(size: int) -> str:
    """As many columns as there is room for in three rows."""
    num_columns = size // 6
    return "|a" * num_columns + "|\n" + "|-" * num_columns + "|\n" + "|b" * num_columns + "|"


def deeper(mark: str, is_wide: bool = False) -> Kind:
    """Each line one level deeper than the one before."""

    def text(size: int) -> str:
        written, depth = "", 0
        while len(written) < size:
            written += ("" if is_wide else mark) * depth + ("  " * depth + mark if is_wide else "") + "x\n"
            depth = depth + 1 if depth < 400 else 0
        return written

    return text


def numbered(template: str) -> Kind:
    """Each piece with a number of its own in place of the `#`."""

    def text(size: int) -> str:
        pieces, length, number = [], 0, 0
        while length < size:
            pieces.append(template.replace("#", str(number)))
            length += len(pieces[-1])
            number += 1
        return "".join(pieces)

    return text


def notes(size: int) -> str:
    num = size // 16
    return "[^1]" * num + "\n\n" + "[^1]: note\n\n" * num


def languages(size: int) -> str:
    """Code in each language that there are colours for."""
    names = [aliases[0] for _, aliases, *_ in get_all_lexers() if aliases]
    return "".join(f"```{name}\nx = 1\n```\n\n" for name in names)[:size]


KINDS: dict[str, Kind] = {
    "code in all languages": languages,
    "nested quotes": deeper("> "),
    "quotes in one line": repeated("> ", after="x"),
    "quotes without spaces": repeated(">", after="x"),
    "lines of deep quotes": lines("> " * 30 + "x"),
    "quotes taken up again": lines("> a\nb\n>> c"),
    "quotes and lists": lines("> - > - > - > - > - x"),
    "quotes with code": lines("> ```py\n> x = 1\n> ```\n"),
    "nested lists": deeper("- ", is_wide=True),
    "lists in one line": repeated("- ", after="x"),
    "numbers in one line": repeated("1. ", after="x"),
    "lists ten deep": lines("".join("  " * depth + "- x\n" for depth in range(10))),
    "empty items": lines("-"),
    "loose items": lines("- x\n"),
    "tasks": lines("- [x] a"),
    "numbers that jump": numbered("9#. x\n\n"),
    "lists with tables": lines("- |a|b|\n  |-|-|\n  |c|d|"),
    "lists with quotes": lines("- > x\n  > - y"),
    "lists with code": lines("1. a\n\n   ```py\n   x = 1\n   ```"),
    "one endless item": repeated("  and so on\n", before="- a\n"),
    "100 columns": table(100),
    "1,000 columns": table(1_000),
    "columns": one_row,
    "empty cells": repeated("|", before="|a|b|\n|-|-|\n"),
    "rows": table(2),
    "tables": lines("|a|\n|-|\n|b|\n"),
    "tables of marks": table(8, "**`a`**"),
    "tables in quotes": table(30, before="> "),
    "tables in deep quotes": table(10, before=">>> "),
    "a table inside >>>": table(2_000, before=">>>"),
    "heads without rows": lines("|a|b|\n|-|-|\n"),
    "dashes under text": lines("a\n-|-"),
    "fences": lines("```\n```"),
    "fences of one line": lines("```py\nx\n```"),
    "open fences": lines("````" + "`" * 10),
    "tildes": lines("~~~"),
    "growing fences": numbered("```#\n"),
    "one long code": repeated("value = 'x' + f(1)  # why\n", before="```python\n"),
    "one line of code": repeated("x = (", before="```python\n"),
    "quotes in code": repeated("'\"", before="```python\n"),
    "code of unclosed comments": repeated("/*", before="```c\n"),
    "indented code": lines("    x\n"),
    "ticks": numbered("`#` ``"),
    "rows of ticks": repeated("`a``b```c````d`````"),
    "brackets": repeated("["),
    "bracket pairs": around("[", "]"),
    "bangs": repeated("!["),
    "nested images": around("![", "](a)"),
    "nested links": around("[", "](a)"),
    "open links": repeated("[a]("),
    "links": repeated("[a](http://b.c) "),
    "links in angle brackets": repeated("[a](<b "),
    "titles": repeated('[a](b "c'),
    "autolinks": repeated("<http://a.b> "),
    "open angle brackets": repeated("<a:"),
    "addresses": repeated("http://a.b/c "),
    "www": repeated("www."),
    "addresses in a row": repeated("http://"),
    "stars": repeated("*"),
    "stars and lines": repeated("*_"),
    "words in stars": repeated("*a "),
    "words in two stars": repeated("**a** "),
    "marks that cross": repeated("*a _b* c_ "),
    "nested emphasis": around("*a **b ", " c** d*"),
    "struck out": repeated("~~a "),
    "tildes in a row": repeated("~~"),
    "html": repeated("<b>"),
    "entities": repeated("&amp;"),
    "open entities": repeated("&a"),
    "backslashes": repeated("\\"),
    "escaped marks": repeated("\\*"),
    "footnotes": notes,
    "footnotes of many names": numbered("[^#]: a[^#]\n\n"),
    "open footnotes": repeated("[^a"),
    "formulas": repeated("$x$ "),
    "different formulas": numbered("$x_{#}$ "),
    "displayed formulas": numbered("$$\nx_{#}\n$$\n\n"),
    "dollars": repeated("$"),
    "dollars and words": repeated("$a "),
    "open formulas": repeated("\\("),
    "open blocks of formulas": lines("$$\nx\n"),
    "environments": lines("\\begin{align}"),
    "headings": lines("# x"),
    "underlined headings": lines("x\n=\n"),
    "rules": lines("---"),
    "empty lines": repeated("\n"),
    "short paragraphs": lines("x\n"),
    "short lines": lines("x"),
    "hard breaks": lines("x  "),
    "spaces": repeated(" ", after="x"),
    "tabs": repeated("\t", after="x"),
    "tabs and words": repeated("x\t"),
    "one long word": repeated("x"),
    "one long line": repeated("word "),
    "no spaces": repeated("字"),
    "right to left": repeated("שלום עולם "),
    "both directions": repeated("א1a"),
    "combining marks": repeated("\u0301", before="a"),
    "letters with marks": repeated("a\u0301\u0302\u0303"),
    "joined emoji": repeated("👩‍👩‍👧‍👦"),
    "Indic": repeated("क्षि"),
    "overrides": repeated("\u202ea\u202c"),
    "hidden characters": repeated("\u200b"),
    "many scripts": repeated("aяعあ한ก"),
    "tags of thoughts": repeated("<think>a</think>"),
    "ends of thoughts": repeated("</think>"),
}
