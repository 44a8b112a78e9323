import gc
import threading
import time

import pytest
from PySide6.QtGui import QGuiApplication

from app.ui.message.math_image import MAX_CHARS, Formula, draw_formula
from tests.malloc import malloc_bytes


def formula(latex: str, is_display: bool = False, scale: float = 1.0) -> Formula:
    return Formula(latex, is_display, em=16, colour="#ff0000", scale=scale, line_descent=4)


@pytest.mark.parametrize(
    "latex",
    [
        "x^2",
        r"\frac{a}{b}",
        r"\begin{pmatrix}a&b\\c&d\end{pmatrix}",
        r"\begin{align}a&=b\\c&=d\end{align}",
        r"\begin{cases}1&x<0\\2&y\end{cases}",
        r"\int_0^\infty e^{-x^2}\,dx=\frac{\sqrt{\pi}}{2}",
        r"x = 1 \label{eq:1} \tag{3} \nonumber",
        r"\underbrace{a+b}_{c} \xrightarrow{f} \text{if } x \in \mathbb{R}",
    ],
)
def test_what_models_write_can_be_drawn(qapp: QGuiApplication, latex: str) -> None:
    drawn = draw_formula(formula(latex, is_display=True))
    assert drawn
    image = drawn.image
    colours = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}
    assert "#ff0000" in colours


@pytest.mark.parametrize(
    "latex",
    [
        "",
        " ",
        r"\frac{a",
        r"\left(x",
        "مرحبا",
        "😀",
    ],
)
def test_what_cannot_be_drawn_is_said_so(qapp: QGuiApplication, latex: str) -> None:
    assert draw_formula(formula(latex)) is None


@pytest.mark.parametrize(
    "latex",
    [
        r"\frac{1}{" * 30 + "x" + "}" * 30,
        "{" * 1_000,
        "x+" * (MAX_CHARS // 2 - 5),
        "x" * (MAX_CHARS + 1),
        r"\def\a{\a\a}\a",
        r"\rule{1000000pt}{1000000pt}",
        r"\begin{matrix}" * 30,
        r"\left(" * 30 + "x" + r"\right)" * 30,
    ],
)
def test_hostile_formulas_end_soon(
    qapp: QGuiApplication, monkeypatch: pytest.MonkeyPatch, latex: str
) -> None:
    monkeypatch.setattr("app.ui.message.math_image.MAX_SECONDS", 0.2)
    start = time.thread_time()
    assert draw_formula(formula(latex)) is None
    assert time.thread_time() - start < 2


def test_the_limit_holds_on_any_thread_and_for_that_formula_only(qapp: QGuiApplication) -> None:
    drawn: list[object] = []
    thread = threading.Thread(target=lambda: drawn.append(draw_formula(formula("x"))))
    thread.start()
    thread.join()
    assert drawn[0] is not None


def colours_of(latex: str) -> set[str]:
    drawn = draw_formula(Formula(latex, True, em=16, colour="#0000ff", warning="#ff0000"))
    assert drawn
    image = drawn.image
    return {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}


@pytest.mark.parametrize("latex", [r"\unknown{x}", r"\frac{\unknown}{b}", r"\includegraphics{/etc/passwd}"])
def test_of_a_formula_with_an_unknown_command_only_its_name_warns(qapp: QGuiApplication, latex: str) -> None:
    assert {"#0000ff", "#ff0000"} <= colours_of(latex)


def test_a_formula_without_unknown_commands_warns_of_nothing(qapp: QGuiApplication) -> None:
    assert "#ff0000" not in colours_of(r"\frac{a}{b} \text{if } x \in \mathbb{R}")


@pytest.mark.parametrize(
    ("latex", "ems"),
    [
        (r"\left( \sum_i w_i x_i + b \right)", 5),
        (r"\left[ \int_0^1 f(x)\,dx \right]", 5),
        (r"\left\{ \prod_{k=1}^{K} p_k \;\middle|\; p_k > 0 \right\}", 5),
        (r"\left(\left(\left(x\right)\right)\right)", 3),
        (r"\sqrt{} + {}^2 + \frac{}{b}", 4),
    ],
)
@pytest.mark.parametrize("is_display", [True, False])
def test_brackets_are_as_high_as_what_they_hold(
    qapp: QGuiApplication, latex: str, ems: int, is_display: bool
) -> None:
    drawn = draw_formula(formula(latex, is_display))
    assert drawn
    assert drawn.image.height() < ems * 16


def test_an_image_ends_where_its_ink_does(qapp: QGuiApplication) -> None:
    sums = r"\left( \sum_i w_i x_i + b \right)", r"\smash{\sum_i^n}"
    for latex in (*sums, r"\boxed{x}", r"\hspace{1000000em}x"):
        drawn = draw_formula(formula(latex, is_display=True))
        assert drawn
        image = drawn.image
        width, height = image.width(), image.height()
        inked = [(x, y) for x in range(width) for y in range(height) if image.pixelColor(x, y).alpha()]
        rows, columns = sorted({y for _, y in inked}), sorted({x for x, _ in inked})
        assert rows[0] <= 3
        assert rows[-1] >= height - 4
        assert columns[0] <= 2 * 16 + 1


def test_chinese_in_a_formula_is_drawn(qapp: QGuiApplication) -> None:
    narrow, wide = (draw_formula(formula(rf"\text{{{text}}} x")) for text in ("如", "如果如果"))
    assert narrow
    assert wide
    assert wide.image.width() > narrow.image.width() + 2.5 * 16


def test_at_twice_the_scale_it_has_twice_the_pixels_and_the_same_size(qapp: QGuiApplication) -> None:
    once, twice = draw_formula(formula("x^2")), draw_formula(formula("x^2", scale=2))
    assert once
    assert twice
    assert twice.image.width() == pytest.approx(2 * once.image.width(), abs=2)
    assert twice.image.deviceIndependentSize().width() == pytest.approx(once.image.width(), abs=1)


def test_what_reaches_far_below_the_line_is_centred_on_it(qapp: QGuiApplication) -> None:
    low, high = draw_formula(formula(r"\frac{a}{\frac{b}{c}}")), draw_formula(formula("y"))
    assert low
    assert high
    assert low.is_centred
    assert not high.is_centred


def test_a_drawing_leaves_no_cycles_behind(qapp: QGuiApplication) -> None:
    """Thousands of formulas would be hundreds of megabytes until they are found."""
    latex = r"\frac{x_1}{\sqrt{y}} + \left(\hat{z}\right) + \sum_{i}^{n} i"
    draw_formula(formula(latex))
    gc.collect()
    for _ in range(10):
        assert draw_formula(formula(latex))
    assert gc.collect() < 50


@pytest.mark.skipif(not malloc_bytes(), reason="the C library does not tell what it has handed out")
def test_a_kept_image_is_its_pixels_without_the_engine_that_painted_it(
    qapp: QGuiApplication,
) -> None:
    draw_formula(formula("x"))
    before = malloc_bytes()
    kept = [draw_formula(formula("x")) for _ in range(20)]
    assert all(kept)
    assert (malloc_bytes() - before) / len(kept) < 4_000


@pytest.mark.parametrize("latex", [r"\overline{z}", r"\underline{z}", r"\color{black} z"])
def test_all_of_a_formula_has_the_colour_of_the_text(qapp: QGuiApplication, latex: str) -> None:
    drawn = draw_formula(formula(latex))
    assert drawn
    image = drawn.image
    pixels = (image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height()))
    assert all(pixel.red() > 200 for pixel in pixels if pixel.alpha() > 200)
