import html

import pytest
from PySide6.QtGui import QGuiApplication

from app.ui.message.math_tree import math_tree, mend_ziamath


def mathml(latex: str, *, is_display: bool = True) -> str:
    mend_ziamath()
    return math_tree(latex, is_display=is_display, em=16, colour="black", warning="red").mathmlstr()


def size(latex: str, *, is_display: bool = True) -> tuple[float, float]:
    mend_ziamath()
    tree = math_tree(latex, is_display=is_display, em=16, colour="black", warning="red")
    return tree.getsize()


@pytest.mark.parametrize(
    "latex",
    [
        r"\begin{aligned} a &= b \\ &= c \end{aligned}",
        r"\begin{gathered} a = b \\ c \end{gathered}",
        r"\begin{eqnarray} a &=& b \\ c &=& d \end{eqnarray}",
        r"\begin{alignedat}{2} x &= 1 & y &= 2 \\ z &= 3 & w &= 4 \end{alignedat}",
        r"\begin{dcases} \frac{1}{2} & x > 0 \\ 0 & x < 0 \end{dcases}",
        r"\left. \begin{rcases} a & b \\ c & d \end{rcases} \right. \Rightarrow e",
    ],
)
def test_environments_are_tables(qapp: QGuiApplication, latex: str) -> None:
    assert "<mtable" in mathml(latex)
    assert "&amp;" not in mathml(latex)
    assert size(latex)[1] > 25


@pytest.mark.parametrize("base", [r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}", r"\binom{n}{k}"])
def test_what_has_brackets_has_its_power_after_them(qapp: QGuiApplication, base: str) -> None:
    assert size(rf"{base}^{{-1}}_k")[0] > size(base)[0]


def test_sums_have_their_limits_beside_them_in_fractions_and_tables(qapp: QGuiApplication) -> None:
    assert "munder" in mathml(r"\sum_i x")
    assert "munder" not in mathml(r"\frac{1}{\sum_i x}")
    assert "munder" not in mathml(r"\begin{cases} \sum_i x & y \end{cases}")
    assert size(r"\frac{1}{\displaystyle\sum_i x}")[1] > size(r"\frac{1}{\sum_i x}")[1] + 8


def test_an_arrow_is_as_long_as_its_label(qapp: QGuiApplication) -> None:
    short, long = (size(rf"\xrightarrow{{\text{{{text}}}}}")[0] for text in ("ab", "ab" * 8))
    assert long > 3 * short


def test_lines_of_a_table_are_drawn(qapp: QGuiApplication) -> None:
    mend_ziamath()

    def num_lines(latex: str) -> int:
        tree = math_tree(latex, is_display=True, em=16, colour="black", warning="red")
        return sum(each.tag == "rect" for each in tree.svgxml().iter())

    rows = r"a & b \\ \hline c & d"
    assert num_lines(r"\begin{array}{cc} a & b \\ c & d \end{array}") == 0
    assert num_lines(rf"\begin{{array}}{{c|c}} {rows} \end{{array}}") == 2
    assert num_lines(rf"\begin{{array}}{{|c|c|}} \hline {rows} \\ \hline \end{{array}}") == 6


def test_a_minus_before_a_number_stands_close_to_it(qapp: QGuiApplication) -> None:
    assert size("a = -b")[0] < size("a - b")[0] + size("= x")[0] - size("x")[0]
    assert size("-b")[0] + size("a")[0] < size("a-b")[0]


def test_what_mathop_and_its_like_hold_is_drawn(qapp: QGuiApplication) -> None:
    assert size(r"\mathop{\mathrm{esssup}}_x f")[0] > size("f")[0] + 30


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"\ce{2H2 + O2 -> 2H2O}", "→"),
        (r"a \not= b", "≠"),
        (r"x := y", "≔"),
        (r"\Bigg\{ x \Bigg\}", "{"),
        (r"\bigoplus_i x", "⨁"),
        (r"\text{where $x$ is}", "where"),
        (r"\text{a & b < c}", "&"),
        (r"\operatorname*{arg\,max}_x", "arg"),
    ],
)
def test_commands_that_latex2mathml_does_not_know(qapp: QGuiApplication, latex: str, text: str) -> None:
    assert text in html.unescape(mathml(latex))
    assert "red" not in mathml(latex)


def test_a_colour_is_a_name_or_a_number(qapp: QGuiApplication) -> None:
    assert 'mathcolor="blue"' in mathml(r"\textcolor{blue}{x}")
    assert "url" not in mathml(r"\textcolor{url(file:///etc/passwd)}{x} \colorbox{url(x)}{y}")
