import pytest
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QApplication

from app.ui.message.passages import CopiedPassage, as_html, as_markdown, as_plain, passages
from app.ui.message.turn_passages import passages_of

SOURCE = """\
## A *fine* head

One **bold**, *leaning*, ~~gone~~, `co_de`, [named](https://a.example/?b=1&c=2) and https://b.example word.
Second line with $x^2$ and 2 * 3 < 7.

- first
- second
  1. inner
  2. other
- third

   its second paragraph

7. seven
8. eight

| Name | Size |
| --- | ---: |
| a\\|b | 1 |
| **c** |  |

> quoted
> words
>
> - in it

```py
x = [1]

y = 2
```

- code in a list:
  ```sh
  ls -l
  cd ..
  ```

---

$$
E = mc^2
$$
"""
PLAIN = """\
A fine head

One bold, leaning, gone, co_de, named and https://b.example word.
Second line with $x^2$ and 2 * 3 < 7.

- first
- second
   1. inner
   2. other
- third

   its second paragraph

7. seven
8. eight

Name\tSize
a|b\t1
c\t

> quoted
> words
>
> - in it

x = [1]

y = 2

- code in a list:

ls -l
cd ..

---

$$
E = mc^2
$$"""


def whole(source: str) -> list[CopiedPassage]:
    return passages_of(source, is_markdown=True)


def test_plain_text_keeps_lists_tables_quotations_and_formulas(qapp: QApplication) -> None:
    assert as_plain(whole(SOURCE)) == PLAIN


def test_what_is_copied_as_markdown_is_read_as_the_same(qapp: QApplication) -> None:
    copied = as_markdown(whole(SOURCE))
    assert "## A *fine* head" in copied
    assert "One **bold**, *leaning*, ~~gone~~, `co_de`, [named](https://a.example/?b=1&c=2)" in copied
    assert "$x^2$ and 2 \\* 3 \\< 7." in copied
    assert "| Name | Size |\n| --- | --- |\n| a\\|b | 1 |\n| **c** |  |" in copied
    assert "```py\nx = [1]\n\ny = 2\n```" in copied
    assert as_plain(whole(copied)) == PLAIN


def test_html_has_what_office_programs_know(qapp: QApplication) -> None:
    copied = as_html(whole(SOURCE))
    assert copied.startswith("<h2>A <i>fine</i> head</h2><p>One <b>bold</b>, <i>leaning</i>, <s>gone</s>, ")
    assert "<code>co_de</code>, " in copied
    assert '<a href="https://a.example/?b=1&amp;c=2">named</a>' in copied
    assert "word.<br>Second line with $x^2$ and 2 * 3 &lt; 7.</p>" in copied
    assert (
        "<ul><li>first</li><li>second</li><ol><li>inner</li><li>other</li></ol><li>third</li></ul>" in copied
    )
    assert '<ol start="7"><li>seven</li><li>eight</li></ol>' in copied
    assert "<table><tr><th>Name</th><th>Size</th></tr><tr><td>a|b</td><td>1</td></tr>" in copied
    assert "<blockquote><p>quoted<br>words</p><ul><li>in it</li></ul></blockquote>" in copied
    assert "<pre><code>x = [1]\n\ny = 2</code></pre>" in copied
    assert "color" not in copied
    assert "font" not in copied


@pytest.mark.parametrize("text", ["*", "a_b_", "1. x", "# no head", "`", "\\", "<b>", "- x", "> y"])
def test_marks_that_are_text_stay_text(qapp: QApplication, text: str) -> None:
    document = QTextDocument(text)
    found = passages(document, 0, document.characterCount(), {})
    assert as_plain(whole(as_markdown(found))) == text


def test_a_part_begins_and_ends_in_the_middle(qapp: QApplication) -> None:
    document = QTextDocument()
    document.setHtml("<p>one two</p><ul><li>three four</li><li>five six</li></ul><p>seven</p>")
    text = document.toPlainText()
    found = passages(document, text.index("four"), text.index(" six"), {})
    assert as_plain(found) == "four\n- five"
    assert as_markdown(found) == "four\n- five"
    assert as_html(found) == "<ul><li>four</li><li>five</li></ul>"


def test_two_tables_are_two(qapp: QApplication) -> None:
    found = whole("| a |\n| - |\n| 1 |\n\ntext\n\n| b |\n| - |\n| 2 |")
    assert as_html(found).count("<table>") == 2
    assert as_plain(found) == "a\n1\n\ntext\n\nb\n2"


def test_the_fence_of_code_is_longer_than_those_in_it(qapp: QApplication) -> None:
    source = "````md\n```py\nx\n```\n````"
    assert as_markdown(whole(source)) == source


def test_what_stands_higher_or_lower_is_copied_as_that(qapp: QApplication) -> None:
    found = passages_of("10<sup>6</sup> H<sub>2</sub>O <kbd>Esc</kbd>", is_markdown=True)
    assert as_markdown(found) == "10<sup>6</sup> H<sub>2</sub>O `Esc`"
    assert as_html(found) == "<p>10<sup>6</sup> H<sub>2</sub>O <code>Esc</code></p>"
