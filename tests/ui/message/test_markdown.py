import html
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QApplication

from app.ui.message.folding import unfold
from app.ui.message.markdown import Block, BlockKind, inner_start, parse_blocks
from app.ui.message.markdown_html import MAX_CELLS, is_safe_link, letters

HOSTILE = (
    "text <img src=file:///etc/hostname> <b>bold</b> after",
    "![secret](http://127.0.0.1:1/?q=secret) and ![a][r]\n\n[r]: http://127.0.0.1:1/x",
    "![](file:///dev/zero)",
    "<style>@import url(file:///etc/passwd)</style> kept",
    '<table background="file:///etc/passwd"><tr><td>cell</td></tr></table>',
    "<script>alert('x')</script> kept",
    "[x](javascript:alert(1)) [y](data:text/html,boo) [z](FILE:///etc/passwd)",
    "[Continue](app:delete?id=1) [share](smb://host/share)",
    '[text](http://example.org/a "with a title")',
    "| a | b |\n|---|---|\n| 1 | 2 | lost |",
    "| a | b |\n|---|---|\n| only one |",
    "[unused]: http://example.org/nowhere 'title'",
    "<!-- a comment --> after",
    "a &amp; b &lt;c&gt; &copy; &#65; \\*not emphasis\\*",
    "in**tra**word and snake_case_name and 2*3*4",
    "3. three\n5. five\n4. four",
    "1) one\n2) two",
    "- [ ] to do\n- [x] done",
    "> quoted\n> > deeper\n> > > deepest\n> > > > and more\n> > > > > still",
    "~~gone~~ `code` **bold**",
    "Title\n=====\n\nSub\n---\n\n# One\n## Two ##",
    "```python title=\"a b\"\nprint('x')\n```\nafter",
    "```\nnot closed",
    "    indented\n    code\n\nafter",
    "- item\n\n  ```js\n  nested();\n  ```\n",
    "line one\nline two  \nline three\\\nline four",
    "see https://example.org/a_b?c=d&e=f, <https://example.org/auto> or mail@example.org",
    "[link with `code` and **bold**](https://example.org)",
    "[a](<http://example.org/with space>)",
    "[ünïcode](http://example.org/ünï?x=ß)",
    "x\u2028y \u202edesrever\u202c \ufffc \ufdd0 z",
    "a\x00b",
    "> " * 100 + "deep",
    "- " * 100 + "deep",
    "[" * 500 + "brackets",
    "*" * 500 + "stars" + "_" * 500,
)
# Some of their words are marks.
KNOWN = (
    "H<sub>2</sub>O, 10<sup>6</sup>, <kbd>Ctrl</kbd> <sup onclick=x>no</sup> <sub>open",
    "<details>\n<summary>The *sum*</summary>\n\ninside\n\n</details>\nafter <details> it",
    "> [!NOTE]\n> noted\n\n> [!WARNING]\n>\n> warned\n\n> [!OTHER]\n> other",
    "<details>\n" * 200 + "deep",
    "<sup>" * 200 + "deep",
)


def shown(blocks: list[Block]) -> str:
    """What a reader sees of the blocks, and where their links lead."""
    texts = []
    for block in blocks:
        if block.kind is BlockKind.CODE:
            texts.append(f"{block.info} {block.code}")
            continue
        document = QTextDocument()
        document.setHtml(block.html)
        targets = re.findall(r'<a href="([^"]*)">', block.html)
        texts += [document.toPlainText(), *(html.unescape(target) for target in targets)]
    return unfold(" ".join(texts)).replace("☑", "x")


def words(text: str) -> set[str]:
    return {letters(word) for word in re.findall(r"[^\W_]+", html.unescape(text))}


@pytest.mark.parametrize("source", HOSTILE)
def test_no_word_of_the_source_is_lost(qapp: QApplication, source: str) -> None:
    seen = letters(shown(parse_blocks(source)))
    list_numbers = set(re.findall(r"^\s*(\d+)[.)]", source, re.MULTILINE))
    missing = {word for word in words(source) if word not in seen} - list_numbers
    assert not missing


@pytest.mark.parametrize("source", [*HOSTILE, *KNOWN])
def test_html_of_the_model_stays_text(source: str) -> None:
    rendered = "".join(block.html for block in parse_blocks(source))
    for tag in re.findall(r"<(\w+)", rendered):
        assert tag in {
            *("p", "br", "a", "code", "pre", "strong", "em", "s", "ul", "ol", "li", "hr", "div"),
            *("table", "thead", "tbody", "tr", "th", "td", "h1", "h2", "h3", "h4", "h5", "h6"),
            *("span", "sup", "sub", "kbd", "math", "copy"),
        }


@pytest.mark.parametrize("source", HOSTILE)
def test_links_lead_only_to_the_web_and_to_mail(source: str) -> None:
    rendered = "".join(block.html for block in parse_blocks(source))
    assert all(is_safe_link(target) for target in re.findall(r'href="([^"]*)"', rendered))


@pytest.mark.parametrize("source", HOSTILE)
def test_no_word_is_lost_while_the_text_is_growing(qapp: QApplication, source: str) -> None:
    for end in range(0, min(len(source), 200), 7):
        part = source[:end]
        seen = letters(shown(parse_blocks(part)))
        numbers = set(re.findall(r"(\d+)[.)]?", part))
        assert not {word for word in words(part) if word not in seen} - numbers


@given(st.text(alphabet="ab1 \n*_`#>|-[]()!<&;:\\.~=\"'", max_size=200))
def test_whatever_the_punctuation_all_letters_are_still_there(source: str) -> None:
    blocks = parse_blocks(source)
    rendered = " ".join(block.info + block.code + re.sub(r"<[^>]*>", "", block.html) for block in blocks)
    assert letters(html.unescape(rendered)).count("a") >= letters(html.unescape(source)).count("a")


def test_blocks_come_in_order_and_know_where_they_begin() -> None:
    source = "one\n\n```py\ntwo\n```\n\nthree\n"
    blocks = parse_blocks(source)
    assert [block.kind for block in blocks] == [BlockKind.PROSE, BlockKind.CODE, BlockKind.PROSE]
    assert [source[block.start :][:5].strip() for block in blocks] == ["one", "```py", "three"]


@pytest.mark.parametrize(
    ("source", "is_closed"),
    [
        ("```py\nx", False),
        ("```py\nx\n```", True),
        ("```", False),
        ("~~~\nx\n~~~\n", True),
        ("```\nx\n``", False),
        ("```\nx\n```py\n", False),
        ("```\nx\n`````\n", True),
    ],
)
def test_a_fence_is_open_until_its_end_has_come(source: str, is_closed: bool) -> None:
    (block,) = parse_blocks(source)
    assert block.kind is BlockKind.CODE
    assert block.is_closed is is_closed


def test_numbers_of_a_list_stay_as_written(qapp: QApplication) -> None:
    (block,) = parse_blocks("3. three\n4. four\n9. nine")
    assert re.findall(r'<ol start="(\d+)">', block.html) == ["3", "9"]


def test_web_addresses_become_links_without_the_full_stop_after_them() -> None:
    (block,) = parse_blocks("See https://example.org/a_b_c.")
    assert '<a href="https://example.org/a_b_c">' in block.html


def html_of(source: str) -> str:
    return "".join(block.html for block in parse_blocks(source))


def test_tasks_have_boxes_in_place_of_bullets() -> None:
    rendered = html_of("- [x] done\n- [ ] to *do*\n- plain\n- [y] no box")
    assert '<li style="list-style-type: none">☑ done</li>' in rendered
    assert '<li style="list-style-type: none">☐ to <em>do</em></li>' in rendered
    assert "<li>plain</li>" in rendered
    assert "<li>[y] no box</li>" in rendered


def test_footnotes_are_marked_where_they_stand_and_where_they_are_explained() -> None:
    rendered = html_of("Word[^1] and [^a-z].\n\n[^1]: The `note`.")
    assert "Word<sup>1</sup> and [^a-z]." in rendered
    assert '<p class="footnote"><sup>1</sup> The <code>note</code>.</p>' in rendered


@pytest.mark.parametrize(
    ("source", "formulas"),
    [
        ("$x^2$ and \\(a+b\\)", [("$", "x^2"), ("\\(", "a+b")]),
        ("$$x$$", [("$$", "x")]),
        ("text\n\\[\nx\n+y\n\\]\nmore", [("\\[", "\nx\n+y\n")]),
        ("\\begin{align}a&=b\n\\end{align}", [("", "\\begin{align}a&=b\n\\end{align}")]),
        ("the $n$th and $1/2$", [("$", "n"), ("$", "1/2")]),
        ("| $x$ |\n|---|\n| 2 |", [("$", "x")]),
        ("- a\n  $$\n  x\n  $$", [("$$", "\nx\n")]),
        ("It costs $5 and $10.", []),
        ("from $5 to 10$, US$5-US$10, $HOME/$USER, $PATH:$HOME", []),
        ("`$x$` and \\$x$ and $ x $", []),
        ("$$\nx\n\nnever closed", []),
    ],
)
def test_formulas_are_told_from_prices_and_variables(source: str, formulas: list[tuple[str, str]]) -> None:
    found = re.findall(r'<math open="([^"]*)">([^<]*)</math>', html_of(source))
    assert [(opens, html.unescape(latex)) for opens, latex in found] == formulas


def test_code_in_a_list_is_coloured_and_named() -> None:
    rendered = html_of("- step\n\n  ```python\n  def f(): pass\n  ```")
    assert '<span class="keyword">def</span>' in rendered
    assert '<p class="language">python <copy code="def f(): pass\n"></p>' in rendered


def test_addresses_that_begin_with_www_are_links_too() -> None:
    assert '<a href="http://www.example.org/a">www.example.org/a</a>.' in html_of("See www.example.org/a.")
    assert "href" not in html_of("not-www.example.org, www. and www.example")


def test_characters_that_are_not_seen_are_spelled_out() -> None:
    rendered = html_of("a\u202eb **c\u200bd**")
    assert rendered.count('<span class="badge">') == 2
    assert "⟦U+202E⟧" in rendered
    assert "⟦U+200B⟧" in rendered


def test_a_table_of_very_many_columns_is_text() -> None:
    wide = "|a" * 101 + "|\n" + "|-" * 101 + "|\n|b|"
    (block,) = parse_blocks(wide)
    assert block.kind is BlockKind.PROSE
    assert letters(re.sub(r"<[^>]*>", "", block.html)) == "a" * 101 + "b"


@pytest.mark.parametrize(
    ("source", "bold"),
    [
        ("**注意：**这里", ["注意："]),
        ("含**「重点」**内容", ["「重点」"]),
        ("これは**私のやりたかったこと。**だからするの。", ["私のやりたかったこと。"]),
        ("**テスト**。テスト、**テスト？**テスト", ["テスト", "テスト？"]),
        ("패키지를 발행하려면 **`npm publish`**를 실행하십시오.", ["<code>npm publish</code>"]),
        ("和**“引号”**后面", ["“引号”"]),
        ("文档 **(说明)**在此，**A.**之后", ["(说明)", "A."]),
        ("葛\U000e0100**(かつ)**と", ["(かつ)"]),
        ("문서 **마크다운(Markdown)**을", ["마크다운(Markdown)"]),
        ("a**(b)**c **d** **e😀**f", ["d"]),
        ("** 注意：**这里", []),
        ("含** 「重点」 **内容", []),
        ("**注意：\\**这里", []),
    ],
)
def test_emphasis_begins_and_ends_beside_cjk_punctuation(source: str, bold: list[str]) -> None:
    assert re.findall("<strong>(.*?)</strong>", html_of(source)) == bold


def test_other_marks_beside_cjk_punctuation() -> None:
    assert html_of("*他說**“你好”**。*") == "<p><em>他說<strong>“你好”</strong>。</em></p>"
    assert html_of("是~~「旧」~~新") == "<p>是<s>「旧」</s>新</p>"
    assert html_of("变量 a_（b）_c") == "<p>变量 a_（b）_c</p>"


def cells_of(*rows: str, head: str = "| a | b |\n|---|---|") -> list[list[str]]:
    rendered = html_of("\n".join([head, *rows]))
    assert rendered.count("<tr>") == 1 + len(rows)
    return [re.findall(r"(?s)<td[^>]*>(.*?)</td>", row) for row in rendered.split("<tr>")[2:]]


def test_bars_in_code_and_formulas_do_not_divide_the_row_of_a_table() -> None:
    assert cells_of("| `x|y` | 2 |", "| 3 | 4 |") == [["<code>x|y</code>", "2"], ["3", "4"]]
    assert cells_of("| ``a`|`` | $|x|$ |") == [["<code>a`|</code>", '<math open="$">|x|</math>']]
    assert cells_of(r"| \(|x|\) | `a|b\|c` |") == [['<math open="\\(">|x|</math>', "<code>a|b|c</code>"]]
    assert cells_of("`x|y`|2") == [["<code>x|y</code>", "2"]]


def test_cells_too_many_join_the_last_and_missing_ones_are_empty() -> None:
    assert cells_of("| 1 | 2 | 3 |", "| 4 |") == [["1", "2 | 3"], ["4", ""]]
    assert cells_of("| 1 | 2 || **3**") == [["1", "2 || <strong>3</strong>"]]
    assert cells_of("| $5 | $6 | $7 |") == [["$5", "$6 | $7"]]
    assert cells_of("| ` | ` | x |") == [["<code>|</code>", "x"]]
    assert cells_of("| a ``` b | c | d |") == [["a ``` b", "c | d"]]
    assert cells_of(r"| a \| b | c | d |") == [["a | b", "c | d"]]
    assert cells_of("| `a | 1` |", head="| a |\n|---|") == [["<code>a | 1</code>"]]


def test_bars_in_code_and_formulas_do_not_divide_the_head_of_a_table() -> None:
    rendered = html_of("> | `a|b` | $|x|$ |\n> |---|---|\n> | 1 | 2 |")
    assert re.findall("<th[^>]*>(.*?)</th>", rendered) == ["<code>a|b</code>", '<math open="$">|x|</math>']
    assert cells_of("| 1 | 2 | 3 |", head="`a|b`|c\n---|---") == [["1", "2 | 3"]]
    for written in (
        "| `a|b` | c |\n|---|---|---|---|",
        "| `a|b | c |\n|---|---|",
        "`a|b`\n---",
    ):
        assert "<td" not in html_of(f"{written}\n| 1 | 2 |")


def test_a_cell_has_several_lines() -> None:
    (cells,) = cells_of("| - one<br>- two<BR />x | `<br>` <b>y</b> <br hidden> |")
    assert cells[0] == "- one<br />\n- two<br />\nx"
    assert cells[1] == "<code>&lt;br&gt;</code> &lt;b&gt;y&lt;/b&gt; &lt;br hidden&gt;"


def test_a_few_tags_are_known_and_others_stay_text() -> None:
    assert (
        html_of("H<sub>2</sub>O and 10<SUP>*n*</SUP>") == "<p>H<sub>2</sub>O and 10<sup><em>n</em></sup></p>"
    )
    assert html_of("<kbd>Ctrl</kbd>+<kbd>C</kbd>") == "<p><kbd>Ctrl</kbd>+<kbd>C</kbd></p>"
    for written in (
        "<sub>2",
        "<sub onclick='x'>2</sub>",
        "<b>2</b>",
        "<sub></sub>",
        "<sub><img></sub>",
        "`<sub>2</sub>`",
    ):
        assert not re.search("<(sub|b|img)>", html_of(written))
    assert "<code>&lt;br&gt;</code>" in html_of("`<br>`<br>x")


def test_a_section_has_its_summary_as_its_head() -> None:
    source = "<details>\n<summary>The *proof*</summary>\n\n- one\n\n```py\nx\n```\n</details>\nafter"
    blocks = parse_blocks(source)
    assert [block.kind for block in blocks if block.html or block.code] == ["prose", "prose", "code", "prose"]
    assert html_of(source).startswith("<p><strong>▾ The <em>proof</em></strong></p>")
    assert html_of(source).endswith("<p>after</p>")
    assert html_of("<details open><summary>a</summary></details>") == "<p><strong>▾ a</strong></p>"
    assert "&lt;details" in html_of("in the <details> of it")
    assert "&lt;summary" in html_of("<summary>half")
    assert "&lt;details" in html_of("<details>\nno summary")


def test_a_quotation_may_be_an_alert() -> None:
    rendered = html_of("> [!WARNING]\n> Hot *tea*.")
    assert '<p class="warning"><strong>Warning</strong></p><p>Hot <em>tea</em>.</p>' in rendered.replace(
        "\n", ""
    )
    assert "[!OTHER]" in html_of("> [!OTHER]\n> x")
    assert "[!NOTE]" in html_of("[!NOTE]\nx")


def test_chinese_heads_have_a_weight_that_their_fonts_have() -> None:
    assert html_of("## 标题 one") == '<h2 class="cjk">标题 one</h2>'
    assert html_of("## One") == "<h2>One</h2>"


def test_lines_of_tags_take_no_time() -> None:
    for hostile in (
        "<details>" + " " * 300_000 + "x",
        "<summary>" * 50_000,
        "<sup>" * 50_000,
        "<details>\n" * 10_000,
    ):
        began = time.perf_counter()
        parse_blocks(hostile)
        assert time.perf_counter() - began < 5


def test_a_long_row_with_too_many_cells_takes_no_time() -> None:
    for inside in ("`" * 3_000, "`a``b" * 800, "$a|" * 1_300, "\\(" * 1_900, "|" * 3_900, "$x" * 50_000):
        began = time.perf_counter()
        html_of(f"| a | b |\n|---|---|\n| {inside} | b | c |")
        assert time.perf_counter() - began < 1


def test_short_rows_do_not_make_more_cells_than_there_is_room_for() -> None:
    rendered = html_of("|a" * 50 + "|\n" + "|-" * 50 + "|\n" + "b\n" * 1_000)
    assert rendered.count("<td") <= MAX_CELLS + 50
    assert rendered.count("b") >= 1_000


def test_a_long_list_is_cut_where_an_item_begins_and_a_long_item_where_a_block_does() -> None:
    assert inner_start("- a\n  b\n- c\n  - d\n") == len("- a\n  b\n")
    assert inner_start("- a\n\n  ```\n  b\n") == len("- a\n\n")
    assert inner_start("> a\n>\n> b") == len("> a\n>\n")
    assert inner_start("a\nb") is None
