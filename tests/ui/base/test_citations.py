"""Numbers of sources become links where answers cite, and nowhere else."""

import pytest
from PySide6.QtWidgets import QWidget

from app.ui.base.citations import set_sources, sources_of, with_links


@pytest.mark.parametrize(
    ("html", "linked"),
    [
        ("<p>So it is [3].</p>", '<p>So it is <a href="source:3">[3]</a>.</p>'),
        ("<p>Both [1][22]</p>", '<p>Both <a href="source:1">[1]</a><a href="source:22">[22]</a></p>'),
        ("<p><code>a[3]</code></p>", "<p><code>a[3]</code></p>"),
        ("<pre>a[3]</pre><p>[4]</p>", '<pre>a[3]</pre><p><a href="source:4">[4]</a></p>'),
        ('<a href="http://a">[3]</a>', '<a href="http://a">[3]</a>'),
        ("<p>[x] [123456] []</p>", "<p>[x] [123456] []</p>"),
        ("<p>[99]</p>", "<p>[99]</p>"),
        ("<p>a &lt;[3]&gt; b</p>", '<p>a &lt;<a href="source:3">[3]</a>&gt; b</p>'),
    ],
)
def test_only_numbers_of_sources_in_brackets_in_the_text_are_linked(html: str, linked: str) -> None:
    assert with_links(html, lambda number: number < 50) == linked


def test_the_nearest_widget_above_says_whether_answers_cite(qtbot) -> None:
    top = QWidget()
    qtbot.addWidget(top)
    inner = QWidget(QWidget(top))
    assert sources_of(inner) is None
    set_sources(top, {3}.__contains__)
    is_source = sources_of(inner)
    assert is_source
    assert is_source(3)
    assert not is_source(4)
    set_sources(inner.parentWidget(), None)
    assert sources_of(inner) is None
