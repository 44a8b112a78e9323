"""A formula as ziamath's tree of nodes, around the faults of latex2mathml 3.81 and ziamath 0.13.

latex2mathml knows few environments, refuses some texts and lets unknown commands pass as names. ziamath gives
what is empty, and operators while it measures a row, a height of -999, so that brackets around a sum get as
high as a screen. It spaces few operators, draws no lines in tables, and its font has no Chinese, Japanese and
Korean. Raises whatever the two libraries raise. Any thread.
"""

import html
import re
import weakref
from collections import defaultdict
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree as ET

from latex2mathml.converter import Converter
from latex2mathml.symbols_parser import convert_symbol
from latex2mathml.tokenizer import tokenize
from PySide6.QtGui import QFont, QFontMetricsF, QPainterPath
from ziafont.fonttypes import BBox
from ziafont.glyph import SimpleGlyph
from ziafont.svgpath import Cubic, Lineto, Moveto, Point
from ziamath.config import config
from ziamath.drawable import HLine, VLine
from ziamath.mathfont import MathFont
from ziamath.mathtable import AssembledGlyph, MathVariants
from ziamath.nodes.mnode import Mnode
from ziamath.nodes.moperator import Moperator
from ziamath.nodes.mtable import Mtable
from ziamath.zmath import Math

_ENVIRONMENTS = {
    **dict.fromkeys(("align", "aligned", "alignat", "alignedat", "flalign", "split"), r"\begin{align*}"),
    **dict.fromkeys(("gather", "gathered", "multline", "multlined"), r"\begin{displaylines}"),
    "eqnarray": r"\begin{array}{rcl}",
    "dcases": r"\begin{cases}",
    "rcases": r"\left.\begin{array}{ll}",
    "subarray": r"\begin{array}",
}
_ENVIRONMENT = re.compile(r"\\(begin|end)\s*\{(\w+)\*?\}(\{\d+\})?")
_LABELS = re.compile(r"\\(?:label\{[^{}]*\}|nonumber|notag)(?![a-zA-Z])")
_NUMBER, _STARRED = re.compile(r"\\tag\s*\{([^{}]*)\}"), re.compile(r"\\tag\*\s*\{([^{}]*)\}")
_MIXED_TEXT = re.compile(r"\\(?:text|mbox|textrm)\s*\{([^{}]*\$[^{}]*)\}")
_OPERATOR = re.compile(r"\\operatorname(\*?)\s*\{([^{}]*)\}")
_SPACES = re.compile(r"\\[,;:! ]|~")
_CHEMISTRY = re.compile(r"\\ce\s*\{([^{}]*)\}")
_MACROS = {
    r"\llbracket": "⟦",
    r"\rrbracket": "⟧",
    r"\P": "¶",
    r"\copyright": "©",
    r"\prescript": "{}^{#1}_{#2}{#3}",
}
_VARIANTS = {"double-struck": "double", "monospace": "mono", "sans-serif": "sans", "bold": "bold normal"}
_SUMS = "∑∏∐⋀⋁⋂⋃⨀⨁⨂⨄⨆"
_LIMITS = {"sup", "inf", "max", "min", "lim", *_SUMS}
_UNARY = "∀∃∄∂∇¬"
_BINARY = "×÷⋅·∗⋆∘∙•∪∩∖⧵∧∨⊕⊗⊙⊖⊔⊓⋊⋉"
_RELATIONS = "~∼⊂⊃⟹⟺⟸⟶⟵⟼≔"
_CLOSING = ")]}⟩⌋⌉|∣‖!′…⋯"
_NUM_SCRIPTS = {"msub": 1, "msup": 1, "msubsup": 2, "munder": 1, "mover": 1, "munderover": 2}
_COLOUR = re.compile(r"[a-zA-Z]{1,30}|#[0-9a-fA-F]{3,8}")


def math_tree(latex: str, *, is_display: bool, em: float, colour: str, warning: str) -> Math:
    """`em`: in pixels. A command that is not known is shown as its name, in the colour `warning`."""
    converter = Converter(display="block" if is_display else "inline")
    converter.macros = {name: (list(tokenize(body)), body.count("#")) for name, body in _MACROS.items()}
    tree = converter.convert_to_element(_known(latex))
    del tree.attrib["xmlns"]
    for node in tree.iter():
        node.text = html.unescape(node.text or "")
    tree.set("mathcolor", colour)
    _mend(tree, is_display, warning)
    return Math(tree, size=em)


def _known(latex: str) -> str:
    """Written with the environments and commands that latex2mathml knows."""
    latex = _NUMBER.sub(r"\\qquad\\text{(\1)}", _STARRED.sub(r"\\qquad\\text{\1}", _LABELS.sub("", latex)))
    latex = _ENVIRONMENT.sub(_environment, latex)
    latex = _MIXED_TEXT.sub(r"\\hbox{\1}", latex)
    latex = _OPERATOR.sub(_operator_name, latex)
    latex = _CHEMISTRY.sub(_chemistry, latex)
    latex = latex.replace(r"\mathrm{", r"\mathrm {")  # or its letters would be words
    latex = re.sub(r"\\not\s*=", r"\\neq ", latex).replace(":=", "≔").replace(r"\coloneqq", "≔")
    return latex.replace("||", "‖").strip()


def _environment(found: re.Match[str]) -> str:
    known = _ENVIRONMENTS.get(found[2])
    if known is None or found[1] == "begin":
        return known or found[0]
    name = known.partition("{")[2].partition("}")[0]
    return rf"\end{{{name}}}" + (r"\right\}" if found[2] == "rcases" else "")


def _operator_name(found: re.Match[str]) -> str:
    name = _SPACES.sub(" ", found[2])
    return rf"\operatorname{found[1]}{{{name}}}" if re.fullmatch(r"[a-zA-Z ]+", name) else rf"\text{{{name}}}"


def _chemistry(found: re.Match[str]) -> str:
    """Symbols, numbers of atoms, charges and arrows."""
    text = re.sub(r"(?<=[a-zA-Z)\]])(\d+)", r"_{\1}", found[1]).replace("<=>", r"\rightleftharpoons ")
    text = re.sub(r"\^(\d*[+-])", r"^{\1}", text.replace("->", r"\rightarrow "))
    return rf"\mathrm {{{text}}}"


def _mend(node: ET.Element, is_display: bool, warning: str) -> None:
    """`is_display`: whether sums have their limits below and above."""
    _mend_text(node, warning)
    _mend_variant(node)
    is_display = node.get("displaystyle", str(is_display).lower()) == "true"
    num_scripts = _NUM_SCRIPTS.get(node.tag, 0)
    if num_scripts and len(node) > num_scripts + 1:  # brackets around the base came without it
        base = ET.Element("mrow")
        base.extend(node[:-num_scripts])
        node[:-num_scripts] = [base]
    if node.tag == "mtable":
        _mend_table(node)
        is_display = node.get("displaystyle") == "true"
    if num_scripts and not is_display and node[0].text in tuple(_SUMS):
        node.tag = node.tag.replace("under", "sub").replace("over", "sup")
    for at, child in enumerate(node):
        if node.tag == "mfrac":
            child.attrib.setdefault("displaystyle", "false")
        _mend(child, is_display and node.tag != "mfrac" and (not num_scripts or at == 0), warning)
    _space(node)


def _mend_text(node: ET.Element, warning: str) -> None:
    text = node.text or ""
    if text.startswith("\\"):
        symbol = convert_symbol(text)
        node.text = chr(int(symbol, 16)) if symbol else text
        if not symbol:
            node.tag, node.attrib = "mtext", {"mathcolor": warning, "mathvariant": "monospace"}
    elif text in ("↑", "↓", "⟨", "⟩") and node.tag in ("mo", "mi"):
        node.attrib.setdefault("stretchy", "false")
    elif node.tag in ("mo", "mi") and len(node):  # \mathop{…}
        node.tag, node.attrib = "mrow", {}
    elif node.tag == "mi" and len(text) == 1 and text in _SUMS + _BINARY + _RELATIONS:
        node.tag = "mo"
    if text in _LIMITS and node.tag == "mo":
        node.set("movablelimits", "true")
        node.attrib |= {"largeop": "true"} if text in _SUMS else {}


def _mend_variant(node: ET.Element) -> None:
    if variant := node.get("mathvariant"):
        node.set("mathvariant", _VARIANTS.get(variant, variant))
    for name in ("mathcolor", "mathbackground"):
        if not _COLOUR.fullmatch(node.get(name, "black")):
            del node.attrib[name]
            node.tag = node.tag.replace("mstyle", "mrow")
    if node.tag == "mover" and len(node) == 2 and node[1].text in ("^", "~"):
        is_wide = not node.get("accent") and node[1].get("stretchy") != "false"
        node[1].text = {"^": "\u0302\u02c6", "~": "\u0303\u02dc"}[node[1].text][not is_wide]


def _mend_table(table: ET.Element) -> None:
    """Rows and columns as far apart as in TeX."""
    table.attrib.setdefault("displaystyle", "false")
    if table.get("rowspacing", "3pt") == "3pt":
        table.set("rowspacing", "0.5em")
    table.attrib.setdefault("columnspacing", "0.2em" if table.get("displaystyle") == "true" else "0.9em")


def _space(row: ET.Element) -> None:
    """The space around operators that are not in ziamath's list, or stand where they have another meaning."""
    before: ET.Element | None = None
    for at, child in enumerate(row):
        text = child.text or ""
        follows = before is not None and (before.tag != "mo" or (before.text or "") in _CLOSING)
        if child.tag == "mo" and "lspace" not in child.attrib and not child.get("stretchy"):
            if text in ("+", "-", "−", "±", "∓") and not follows:
                child.attrib |= {"form": "prefix", "lspace": "0", "rspace": "0"}
            elif text in _UNARY:
                child.attrib |= {"lspace": "0", "rspace": "0"}
            elif text in (",", ";") and len(row) > 1:
                child.attrib |= {"lspace": "0", "rspace": "0.2em"}
            elif text == "mod" or (text in _BINARY and follows):
                child.attrib |= {"lspace": "0.222em", "rspace": "0.222em"}
            elif len(text) == 1 and text in _RELATIONS and at:
                child.attrib |= {"lspace": "0.278em", "rspace": "0.278em"}
        before = child
    for at in range(len(row) - 1, 0, -1):
        if row.tag in ("mrow", "mtd") and _is_function(row[at - 1]) and row[at].text not in tuple("([{|‖∣"):
            row.insert(at, ET.Element("mspace", width="0.167em"))


def _is_function(node: ET.Element) -> bool:
    """It has a name of several letters, and something below, above or behind."""
    name = (node[0].text or "") if node.tag in _NUM_SCRIPTS and len(node) else ""
    return len(name) > 1 and name.replace("\u2006", "").replace("\u2009", "").isalpha()


@cache
def mend_ziamath() -> None:
    """Call it before the first formula: it loads the fonts, 0.2 s."""
    config.svg2 = False  # Qt draws SVG 1.2
    # Else each drawing would be a cycle, and stay until garbage is collected, on the window's thread.
    Mnode.parent = property(_parent_of, _set_parent)  # type: ignore[assignment]
    patches: tuple[tuple[type, str, object], ...] = (
        (Mnode, "fromelement", classmethod(_node_of)),
        (Moperator, "_setup", _set_up_operator),
        (Mtable, "_setup", _set_up_table),
        (MathFont, "findglyph", _glyph_of),
        (MathVariants, "getvariant_minmax", _variant_of),
    )
    for patched, name, patch in patches:
        setattr(patched, name, patch)
    math_tree("x", is_display=False, em=16, colour="black", warning="black")


_make_node: Any = Mnode.fromelement.__func__  # type: ignore[attr-defined]
_operator: Any = Moperator._setup
_table: Any = Mtable._setup
_find_glyph: Any = MathFont.findglyph
_find_variant: Any = MathVariants.getvariant_minmax


def _parent_of(node: object) -> object:
    return vars(node)["parent"]()


def _set_parent(node: object, parent: object) -> None:
    vars(node)["parent"] = weakref.ref(parent)


def _node_of(cls: type[Mnode], /, element: ET.Element, parent: Mnode, **kwargs: Any) -> Mnode:
    """What is empty has no height, where ziamath leaves the ends of its search for one.

    An arrow is as wide as its labels, which latex2mathml pads.
    """
    labels = [each for each in element[1:] if each.tag == "mpadded"]
    if labels and element.tag in ("mover", "munder", "munderover"):
        copies = [ET.fromstring(ET.tostring(label)) for label in labels]
        width = max(_make_node(cls, copy, parent, **kwargs).bbox.xmax for copy in copies)
        next(element[0].iter("mo")).set("arrow", str(width))
    node: Mnode = _make_node(cls, element, parent, **kwargs)
    if node.bbox.ymin > node.bbox.ymax:
        node.bbox = node.bbox._replace(ymin=0, ymax=0)
    return node


def _set_up_operator(operator: Moperator, **kwargs: Any) -> None:
    """A sum has its own height, and gives it to the row: only what encloses a row is as high as that.

    It is centred on the axis, where fractions have their line.
    """
    operator.width = float(operator.params.get("arrow", 0)) or operator.width
    is_sum = operator.params.get("largeop") == "true"
    if is_sum:
        kwargs = {
            name: value for name, value in kwargs.items() if name not in ("nostretch", "rowymin", "rowymax")
        }
    _operator(operator, **kwargs)
    if is_sum and operator.style.displaystyle:
        low, high = operator.bbox.ymin, operator.bbox.ymax
        shift = (low + high) / 2 - operator.units_to_points(operator.font.math.consts.axisHeight)
        operator.nodexy = [(x, y + shift) for x, y in operator.nodexy]
        operator.bbox = operator.bbox._replace(ymin=low - shift, ymax=high - shift)


def _set_up_table(table: Mtable, **kwargs: Any) -> None:
    """With its lines, half way between the cells."""
    _table(table, **kwargs)
    across, down = (table.element.get(name, "").split() for name in ("rowlines", "columnlines"))
    if not across and not down:
        return
    box, pad = table.bbox, table.size_px("0.3em")
    box = table.bbox = BBox(box.xmin - pad, box.xmax + pad, box.ymin - pad, box.ymax + pad)
    thin = table.units_to_points(table.font.math.consts.fractionRuleThickness)
    rows, columns = defaultdict[int, list[float]](list), defaultdict[int, list[float]](list)
    places = [(row, column) for row, cells in enumerate(table.element) for column in range(len(cells))]
    for (row, column), node, (x, y) in zip(places, table.nodes, table.nodexy, strict=True):
        rows[row] += [y - node.bbox.ymax, y - node.bbox.ymin]
        columns[column] += [x, x + node.bbox.xmax]
    for y in _lines(rows, across, -box.ymax, -box.ymin):
        table.nodes.append(HLine(box.xmax - box.xmin, thin, style=table.style))
        table.nodexy.append((box.xmin, y - thin / 2))
    for x in _lines(columns, down, box.xmin, box.xmax):
        table.nodes.append(VLine(box.ymax - box.ymin, thin, style=table.style))
        table.nodexy.append((x, -box.ymax))


def _lines(spans: dict[int, list[float]], wanted: list[str], first: float, last: float) -> list[float]:
    """latex2mathml counts a line before the first row, or column, where there is one."""
    edges = [first, *((max(one) + min(other)) / 2 for one, other in pairwise(spans.values())), last]
    places = edges if len(wanted) >= len(spans) else edges[1:]
    return [edge for edge, line in zip(places, wanted, strict=False) if line != "none"]


def _variant_of(variants: MathVariants, glyphid: int, ymin: float, ymax: float) -> Any:
    """What is put together lies around the axis, and has to reach the farther end: ziamath errs below it."""
    found = _find_variant(variants, glyphid, ymin, ymax)
    if not isinstance(found, AssembledGlyph):
        return found
    axis = variants.font.math.consts.axisHeight
    half = max(ymax - axis, axis - ymin)
    return _find_variant(variants, glyphid, axis - half, axis + half)


def _glyph_of(font: MathFont, char: str, variant: Any) -> Any:
    is_there = font.glyphindex(char) or ord(char) < 0x2E80
    return _find_glyph(font, char, variant) if is_there else _outline(font, char)


class _Outline(SimpleGlyph):
    width = 0.0

    def advance(self, nextchr: object = None) -> float:  # type: ignore[override]  # noqa: ARG002
        return self.width


@lru_cache(maxsize=500)
def _outline(font: MathFont, char: str) -> SimpleGlyph:
    """The character of a font that Qt finds for it."""
    qt_font = QFont()
    qt_font.setPixelSize(int(font.info.layout.unitsperem))
    path = QPainterPath()
    path.addText(0, 0, qt_font, char)
    elements = [path.elementAt(at) for at in range(path.elementCount())]
    points = [Point(each.x, -each.y) for each in elements]  # type: ignore[no-untyped-call]
    parts: list[Moveto | Lineto | Cubic] = []
    for at, point in enumerate(points):
        kind = elements[at].type
        if kind is QPainterPath.ElementType.CurveToElement:
            parts.append(Cubic(*points[at : at + 3]))
        elif kind is not QPainterPath.ElementType.CurveToDataElement:
            parts.append((Moveto if kind is QPainterPath.ElementType.MoveToElement else Lineto)(point))
    rect = path.boundingRect()
    glyph = _Outline(-ord(char), parts, BBox(rect.left(), rect.right(), -rect.bottom(), -rect.top()), font)
    glyph.width = QFontMetricsF(qt_font).horizontalAdvance(char)
    return glyph
