"""The tool that calculates: exactly where it can, and it says so where it cannot. Any thread.

Numbers are fractions; Python's parser reads the expression, nothing is evaluated by Python. Sizes are limited
before anything is computed, so each call ends at once.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from app.tools.tool import Result, Surroundings, Tool, ToolError

MAX_CHARS, MAX_OPEN = 1000, 50  # of an expression, and of its brackets
MAX_BITS = 14_000  # some 4,200 digits: the most that Python writes
MAX_PLACES = 60  # of a decimal
NUM_DIGITS = 30  # of what is rounded
MAX_FACTORIAL = 1000

_COMMA = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_LETTERS = str.maketrans(
    {"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "^": "**", "π": "pi", "√": "sqrt"}
)


def calculator_tool(key: str) -> Tool:
    async def call(arguments: Mapping[str, Any], _where: Surroundings) -> Result:
        return {"plain_text_response": calculate(str(arguments.get("expression", "")))}

    expression = {"type": "string", "description": "such as (3817 * 92 - 1/3) ** 2 or sqrt(2)"}
    return Tool(
        "calculate",
        "Calculator",
        "Calculate an arithmetic expression exactly. It knows + - * / // % ** and brackets, sqrt, abs, "
        "round, floor, ceil, min, max, gcd, lcm, factorial, comb, exp, ln, log10, log2, sin, cos, tan, pi, e",
        {"type": "object", "properties": {"expression": expression}, "required": ["expression"]},
        call,
        "builtin",
        key=key,
        is_harmless=True,
    )


def calculate(expression: str) -> str:
    """Raises ToolError."""
    if len(expression) > MAX_CHARS or expression.count("(") > MAX_OPEN:
        raise ToolError("the expression is too long")
    text = expression.strip().rstrip("=").translate(_LETTERS)
    if not re.search(r"[a-z]\w*\s*\(", text):  # else the commas are between arguments
        text = _COMMA.sub("", text)
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ToolError("it is no arithmetic expression") from None
    calculation = _Calculation(text.strip())
    try:
        value = calculation.value(tree.body)
    except ZeroDivisionError:
        raise ToolError("division by zero") from None
    except RecursionError:
        raise ToolError("the expression is too long") from None
    return _written(value, calculation.is_exact)


class _Calculation:
    def __init__(self, text: str) -> None:
        self._text = text
        self.is_exact = True

    def value(self, node: ast.expr) -> Fraction:
        """Raises ToolError and ZeroDivisionError."""
        match node:
            case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
                return self._number(node)
            case ast.Name(id="pi" | "e" as name):
                return self._rounded(math.pi if name == "pi" else math.e)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.value(operand)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.value(operand)
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                return self._power(self.value(left), self.value(right))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return _small(Fraction(_OPERATORS[type(op)](self.value(left), self.value(right))))
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                return self._call(name, [self.value(one) for one in arguments])
        raise ToolError(f"it cannot calculate {(ast.get_source_segment(self._text, node) or '')[:80]!r}")

    def _number(self, node: ast.Constant) -> Fraction:
        if isinstance(node.value, int):
            return _small(Fraction(node.value))
        written = (ast.get_source_segment(self._text, node) or "").replace("_", "")
        _digits, _e, exponent = written.lower().partition("e")
        if abs(int(exponent or 0)) > MAX_BITS // 4:
            raise ToolError("a number of it is too large")
        return _small(Fraction(written))

    def _rounded(self, value: float) -> Fraction:
        self.is_exact = False
        if not math.isfinite(value):
            raise ToolError("the result is too large")
        return Fraction(value)

    def _power(self, base: Fraction, exponent: Fraction) -> Fraction:
        if exponent.denominator == 1:
            bits = max(base.numerator.bit_length(), base.denominator.bit_length())
            if abs(base) != 1 and (bits - 1) * abs(exponent) > MAX_BITS:
                raise ToolError("the result is too large")
            return _small(Fraction(base ** int(exponent if abs(base) != 1 else exponent % 2)))
        if exponent == Fraction(1, 2):
            return self._root(base)
        if base < 0:
            raise ToolError("a power of a negative number is none")
        return self._float(math.pow, base, exponent)

    def _root(self, value: Fraction) -> Fraction:
        if value < 0:
            raise ToolError("the square root of a negative number is none")
        root = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
        if root * root == value:
            return root
        self.is_exact = False
        scale = 10 ** (2 * NUM_DIGITS)
        # An integer has more digits than a float.
        return Fraction(math.isqrt(value.numerator * scale * scale // value.denominator), scale)

    def _float(self, work: Callable[..., float], *values: Fraction) -> Fraction:
        try:
            return self._rounded(work(*map(float, values)))
        except (OverflowError, ValueError):
            raise ToolError("the result is too large, or there is none") from None

    def _call(self, name: str, values: list[Fraction]) -> Fraction:
        if name in _FLOATS and len(values) == 1:
            return self._float(_FLOATS[name], *values)
        match name, values:
            case "sqrt", [value]:
                return self._root(value)
            case "abs", [value]:
                return abs(value)
            case "floor", [value]:
                return Fraction(math.floor(value))
            case "ceil", [value]:
                return Fraction(math.ceil(value))
            case "round", [value]:
                return _round(value, 0)
            case "round", [value, places]:
                return _round(value, _whole(places, 0, MAX_PLACES))
            case "min" | "max", [_, *_]:
                return min(values) if name == "min" else max(values)
            case "gcd" | "lcm", [_, *_]:
                whole = [_whole(value) for value in values]
                return _small(Fraction(math.gcd(*whole) if name == "gcd" else math.lcm(*whole)))
            case "factorial", [value]:
                return _small(Fraction(math.factorial(_whole(value, 0, MAX_FACTORIAL))))
            case "comb", [n, k]:
                return _small(Fraction(math.comb(_whole(n, 0, 10_000), _whole(k, 0, 10_000))))
        raise ToolError(f"there is no function {name[:40]} of {len(values)} numbers")


_OPERATORS: dict[type[ast.operator], Callable[[Fraction, Fraction], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_FLOATS: dict[str, Callable[[float], float]] = {
    "exp": math.exp,
    "ln": math.log,
    "log10": math.log10,
    "log2": math.log2,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
}


def _small(value: Fraction) -> Fraction:
    """Raises ToolError."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise ToolError("the result is too large")
    return value


def _whole(value: Fraction, least: int | None = None, most: int | None = None) -> int:
    """Raises ToolError."""
    if value.denominator != 1:
        raise ToolError("it needs whole numbers")
    if (least is not None and value < least) or (most is not None and value > most):
        raise ToolError(f"it needs whole numbers from {least} to {most}")
    return int(value)


def _round(value: Fraction, places: int) -> Fraction:
    """Half away from zero, as people do it."""
    scaled = abs(value) * 10**places
    whole = math.floor(scaled + Fraction(1, 2))
    return Fraction(whole if value >= 0 else -whole, 10**places)


def _written(value: Fraction, is_exact: bool) -> str:
    if not is_exact:
        return f"≈ {_decimal(value, 15)}"
    if value.denominator == 1:
        return str(value.numerator)
    places = _num_places(value.denominator)
    if places is not None:
        sign = "-" if value < 0 else ""
        whole, rest = divmod(abs(value.numerator) * 10**places // value.denominator, 10**places)
        return f"{sign}{whole}.{rest:0{places}d}"
    return f"{value.numerator}/{value.denominator} ≈ {_decimal(value, NUM_DIGITS)}"


def _num_places(denominator: int) -> int | None:
    """None: its decimals never end, or are too many."""
    for places in range(1, MAX_PLACES + 1):
        if 10**places % denominator == 0:
            return places
    return None


def _decimal(value: Fraction, num_digits: int) -> str:
    """Rounded to so many digits."""
    if value == 0:
        return "0"
    power = len(str(abs(value.numerator))) - len(str(value.denominator))
    if not -6 <= power <= num_digits:
        scaled = value / Fraction(10) ** power
        if abs(scaled) < 1:
            scaled, power = scaled * 10, power - 1
        return f"{_decimal(scaled, num_digits)}e{power:+d}"
    places = max(num_digits - power, 0)
    rounded = _round(value, places)
    whole, rest = divmod(abs(rounded.numerator) * 10**places // rounded.denominator, 10**places)
    tail = f"{rest:0{places}d}".rstrip("0") if places else ""
    return f"{'-' if value < 0 else ''}{whole}{'.' + tail if tail else ''}"
