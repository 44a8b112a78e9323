"""Sums, differences and counting: plain lines, chat turns, and the pairs that training never sees.

Every answer repeats its question in one form, "34 + 21 = 55", so that a text shows whose answer it is.
Knows nothing of torch or tokens.
"""

import random
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count

from starter_model import variation

Pair = tuple[int, int]

# Numbers to calculate with. Wider than people ask at first, so that "add 5 to that" works for a while.
LARGEST = 299
SMALLEST = -99
COUNTS_TO = 100

_NUM_HELD_OUT_SUMS = 500
_NUM_HELD_OUT_DIFFERENCES = 300
_NUM_HELD_OUT_LARGER_SUMS = 100
_NUM_HELD_OUT_COUNTS = 100
_NUM_HELD_OUT_TOO_FAR = 60

SUM_WORDINGS = (
    "What is {a} + {b}?",
    "What is {a}+{b}?",
    "what is {a} + {b}",
    "What's {a} + {b}?",
    "whats {a}+{b}",
    "{a} + {b}",
    "{a}+{b}",
    "{a}+{b}=",
    "{a} + {b} =",
    "{a} + {b} = ?",
    "{a}+{b}=?",
    "{a}+{b}?",
    "{a} + {b}?",
    "{a} +{b}",
    "{a} plus {b}",
    "{a} plus {b}?",
    "What is {a} plus {b}?",
    "what's {a} plus {b}",
    "How much is {a} + {b}?",
    "how much is {a} plus {b}",
    "How much do {a} and {b} make?",
    "Add {a} and {b}.",
    "add {a} and {b}",
    "Add {a} to {b}",
    "Add up {a} and {b}",
    "Add {a} + {b}",
    "Please add {a} and {b}.",
    "Can you add {a} and {b}?",
    "Could you add {a} to {b} for me?",
    "What do you get when you add {a} and {b}?",
    "What is the sum of {a} and {b}?",
    "sum of {a} and {b}",
    "Give me the sum of {a} and {b}.",
    "Sum {a} and {b}",
    "Calculate {a} + {b}",
    "calculate {a}+{b}",
    "Compute {a} + {b}.",
    "Solve {a} + {b}",
    "Work out {a} + {b}",
    "Tell me {a} + {b}",
    "tell me what {a} plus {b} is",
    "Do you know {a} + {b}?",
    "What does {a} + {b} equal?",
    "What does {a} plus {b} make?",
    "{a} and {b} together?",
    "What is the total of {a} and {b}?",
    "total of {a} and {b}",
    "I have {a} apples and get {b} more. How many do I have?",
    "There are {a} birds and {b} more come. How many are there?",
    "If I have {a} and add {b}, what do I get?",
    "Hey, what is {a} + {b}?",
    "Hi! What is {a} + {b}?",
    "Quick question: {a} + {b}?",
    "Now {a} + {b}",
    "And {a} + {b}?",
    "What about {a} + {b}?",
    "math: {a} + {b}",
)

# Held out with their pairs: no training text uses these sentences at all.
NEW_SUM_WORDINGS = (
    "Find the total: {a} + {b}",
    "I need {a} + {b} worked out.",
    "Say how much {a} plus {b} comes to.",
    "If you add {a} and {b}, how much is that?",
)

DIFFERENCE_WORDINGS = (
    "What is {a} - {b}?",
    "What is {a}-{b}?",
    "what is {a} - {b}",
    "What's {a} - {b}?",
    "{a} - {b}",
    "{a}-{b}",
    "{a}-{b}=",
    "{a} - {b} =",
    "{a} - {b} = ?",
    "{a}-{b}?",
    "{a} − {b}",
    "{a} minus {b}",
    "{a} minus {b}?",
    "What is {a} minus {b}?",
    "what's {a} minus {b}",
    "How much is {a} - {b}?",
    "how much is {a} minus {b}",
    "Subtract {b} from {a}.",
    "subtract {b} from {a}",
    "Can you subtract {b} from {a}?",
    "Take {b} away from {a}",
    "What is the difference of {a} and {b}?",
    "Calculate {a} - {b}",
    "Compute {a} - {b}.",
    "Work out {a} - {b}",
    "Tell me {a} - {b}",
    "What does {a} - {b} equal?",
    "What do you get when you take {b} from {a}?",
    "I have {a} apples and give away {b}. How many are left?",
    "Hey, what is {a} - {b}?",
    "And {a} - {b}?",
    "What about {a} - {b}?",
    "math: {a} - {b}",
)

NEW_DIFFERENCE_WORDINGS = (
    "I need {a} - {b} worked out.",
    "Say how much {a} minus {b} comes to.",
)

ADD_TO_THAT = (
    "add {b} to that",
    "Add {b} to that.",
    "Now add {b}.",
    "now add {b} to it",
    "add {b}",
    "plus {b}",
    "Plus {b}?",
    "+ {b}",
    "+{b}",
    "and {b} more?",
    "And plus {b}?",
    "What if I add {b} to that?",
    "Please add {b} to the result.",
    "add another {b}",
)
TAKE_FROM_THAT = (
    "subtract {b} from that",
    "Subtract {b} from that.",
    "Now subtract {b}.",
    "minus {b}",
    "Minus {b}?",
    "- {b}",
    "-{b}",
    "take {b} away",
    "Now take {b} from it.",
    "What if I subtract {b} from that?",
    "And minus {b}?",
    "Please subtract {b} from the result.",
)

_WORDS = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
]  # fmt: skip

MORE = "For more, choose Get more models in the Model menu."
TOO_HARD = f"I can only add and subtract two numbers below 300. {MORE}"
TOO_FAR = f"I can only count up to {COUNTS_TO}. {MORE}"
NO_RESULT_YET = "There is no result yet that I could work with."

_TOO_HARD_WORDINGS = (
    "What is {a} * {b}?",
    "{a} * {b}",
    "{a}*{b}",
    "{a} x {b}",
    "What is {a} times {b}?",
    "{a} times {b}",
    "Multiply {a} by {b}",
    "What is {a} / {b}?",
    "{a}/{b}",
    "{a} divided by {b}",
    "Divide {a} by {b}.",
    "What is {a} squared?",
    "What is the square root of {a}?",
    "{a}^{b}",
    "{a} to the power of {b}",
    "What is {a} percent of {b}?",
    "{a} + {b} + {c}",
    "What is {a} + {b} + {c}?",
    "Add {a}, {b} and {c}",
    "{a} + {b} - {c}",
    "{a} * {b} + {c}",
    "What is {a} mod {b}?",
    "Solve x + {a} = {b}",
    "Is {a} a prime number?",
    "What is the average of {a} and {b}?",
)
_TOO_LARGE_WORDINGS = (
    "What is {a} + {b}?",
    "{a} + {b}",
    "{a}+{b}",
    "{a} plus {b}",
    "Add {a} and {b}",
    "{a} - {b}",
    "What is {a} - {b}?",
    "{a} minus {b}",
)


def sum_line(a: int, b: int) -> str:
    return f"{a} + {b} = {a + b}"


def difference_line(a: int, b: int) -> str:
    return f"{a} - {b} = {a - b}"


@cache
def held_out_sum_pairs() -> tuple[Pair, ...]:
    """Pairs a <= b of numbers below 100; training sees neither a + b nor b + a."""
    rng = random.Random("held-out sums")
    pairs = [(a, b) for a in range(100) for b in range(a, 100)]
    return tuple(rng.sample(pairs, _NUM_HELD_OUT_SUMS))


@cache
def held_out_difference_pairs() -> tuple[Pair, ...]:
    rng = random.Random("held-out differences")
    pairs = [(a, b) for a in range(100) for b in range(100)]
    return tuple(rng.sample(pairs, _NUM_HELD_OUT_DIFFERENCES))


@cache
def _held_out_larger_sum_pairs() -> tuple[Pair, ...]:
    rng = random.Random("held-out larger sums")
    return tuple(
        (rng.randrange(100, LARGEST + 1), rng.randrange(LARGEST + 1))
        for _ in range(_NUM_HELD_OUT_LARGER_SUMS)
    )


@cache
def _hidden_sums() -> frozenset[Pair]:
    pairs = held_out_sum_pairs() + _held_out_larger_sum_pairs()
    return frozenset(pairs) | frozenset((b, a) for a, b in pairs)


@cache
def _hidden_differences() -> frozenset[Pair]:
    return frozenset(held_out_difference_pairs())


def held_out_sums(n: int = _NUM_HELD_OUT_SUMS) -> list[tuple[str, str]]:
    """Prompts and their exact answers, every fourth in a sentence that training never uses."""
    wordings = _every_fourth_new(SUM_WORDINGS, NEW_SUM_WORDINGS)
    rng = random.Random("held-out sum order")
    swapped = [(b, a) if rng.random() < 0.5 else (a, b) for a, b in held_out_sum_pairs()[:n]]
    return [(next(wordings).format(a=a, b=b), sum_line(a, b)) for a, b in swapped]


def held_out_larger_sums() -> list[tuple[str, str]]:
    wordings = _every_fourth_new(SUM_WORDINGS, NEW_SUM_WORDINGS)
    return [(next(wordings).format(a=a, b=b), sum_line(a, b)) for a, b in _held_out_larger_sum_pairs()]


def held_out_differences(n: int = _NUM_HELD_OUT_DIFFERENCES) -> list[tuple[str, str]]:
    wordings = _every_fourth_new(DIFFERENCE_WORDINGS, NEW_DIFFERENCE_WORDINGS)
    pairs = held_out_difference_pairs()[:n]
    return [(next(wordings).format(a=a, b=b), difference_line(a, b)) for a, b in pairs]


def _every_fourth_new(known: tuple[str, ...], new: tuple[str, ...]) -> Iterator[str]:
    for i in count():
        yield new[(i // 4) % len(new)] if i % 4 == 3 else known[i % len(known)]


def may_add(a: int, b: int) -> bool:
    return (a, b) not in _hidden_sums() and _in_range(a) and _in_range(b)


def may_subtract(a: int, b: int) -> bool:
    return (a, b) not in _hidden_differences() and _in_range(a) and _in_range(b)


def _in_range(number: int) -> bool:
    return SMALLEST <= number <= LARGEST


def draw_pair(rng: random.Random, allowed: Callable[[int, int], bool]) -> Pair:
    while True:
        a, b = _draw_number(rng), _draw_number(rng)
        if allowed(a, b):
            return a, b


def _draw_number(rng: random.Random) -> int:
    """Mostly two digits: that is where people try it and where the carries are learned."""
    kind = rng.random()
    if kind < 0.82:
        return rng.randrange(100)
    if kind < 0.87:
        return rng.randrange(10)
    return rng.randrange(100, LARGEST + 1)


def plain_line(rng: random.Random) -> str:
    """One dense line without any chat around it: what teaches arithmetic quickest."""
    kind = rng.random()
    if kind < 0.4:
        # With its end told beforehand, and short: to stop in time is the hard part of counting.
        numbers = _draw_count(rng, longest=rng.choice((3, 5, 12)))
        return f"{numbers[0]} to {numbers[-1]}: {', '.join(map(str, numbers))}"
    if kind < 0.43:
        a, b = -rng.randrange(1, 100), rng.randrange(100)
        return sum_line(a, b) if rng.random() < 0.5 else difference_line(b, -a)
    if kind < 0.76:
        line = sum_line(*draw_pair(rng, may_add))
    else:
        line = difference_line(*draw_pair(rng, may_subtract))
    # The question side is met in several spacings, the answer only in the one the chats use.
    question, result = line.split(" = ")
    return f"{question.replace(' ', '')}={result}" if rng.random() < 0.15 else line


def sum_turn(rng: random.Random) -> tuple[str, str, int]:
    a, b = draw_pair(rng, may_add)
    if a <= 20 and b <= 20 and rng.random() < 0.3:
        asked = rng.choice(("what is {a} plus {b}", "{a} plus {b}", "{a} + {b}?", "add {a} and {b}"))
        return asked.format(a=_WORDS[a], b=_WORDS[b]), sum_line(a, b), a + b
    return _ask(rng, SUM_WORDINGS, a, b), sum_line(a, b), a + b


def difference_turn(rng: random.Random) -> tuple[str, str, int]:
    a, b = draw_pair(rng, may_subtract)
    return _ask(rng, DIFFERENCE_WORDINGS, a, b), difference_line(a, b), a - b


def _ask(rng: random.Random, wordings: tuple[str, ...], a: int, b: int) -> str:
    asked = rng.choice(wordings).format(a=a, b=b)
    return variation.dress(rng, asked) if rng.random() < 0.3 else asked


def follow_up_turn(rng: random.Random, result: int) -> tuple[str, str, int] | None:
    """Goes on with the last result; None where that would leave the range or ask a held-out pair."""
    b = rng.randrange(100) if rng.random() < 0.5 else rng.randrange(1, 13)
    if rng.random() < 0.6:
        if not may_add(result, b):
            return None
        return rng.choice(ADD_TO_THAT).format(b=b), sum_line(result, b), result + b
    if not may_subtract(result, b):
        return None
    return rng.choice(TAKE_FROM_THAT).format(b=b), difference_line(result, b), result - b


def no_result_turn(rng: random.Random) -> tuple[str, str]:
    asked = rng.choice(ADD_TO_THAT[:2] + TAKE_FROM_THAT[:2])
    return asked.format(b=rng.randrange(100)), NO_RESULT_YET


def too_hard_turn(rng: random.Random) -> tuple[str, str]:
    if rng.random() < 0.5:
        a, b, c = (rng.randrange(10 ** rng.randint(1, 4)) for _ in range(3))
        return rng.choice(_TOO_HARD_WORDINGS).format(a=a, b=b, c=c), TOO_HARD
    a, b = rng.randrange(400, 10 ** rng.randint(3, 6)), rng.randrange(10 ** rng.randint(1, 6))
    if rng.random() < 0.5:
        a, b = b, a
    return rng.choice(_TOO_LARGE_WORDINGS).format(a=a, b=b), TOO_HARD


def held_out_counts() -> list[tuple[str, str]]:
    rng = random.Random("held-out count wordings")
    return [_ask_to_count(rng, list(numbers)) for numbers in _hidden_counts()]


@cache
def _hidden_counts() -> tuple[tuple[int, ...], ...]:
    rng = random.Random("held-out counts")
    drawn: dict[tuple[int, ...], None] = {}
    while len(drawn) < _NUM_HELD_OUT_COUNTS:
        drawn[tuple(_draw_any_count(rng, shortest=3, longest=25))] = None
    return tuple(drawn)


def count_turn(rng: random.Random, longest: int = COUNTS_TO) -> tuple[str, str]:
    numbers = _draw_count(rng, min(longest, rng.choice((4, 6, 10, 25, 50, 100, 100, 100))))
    if longest == COUNTS_TO and rng.random() < 0.12:
        # Down from the largest number: it looks like a count that goes too far.
        numbers = list(range(COUNTS_TO, rng.randrange(COUNTS_TO - 2), -rng.choice((1, 1, 1, 5, 10))))
        if len(numbers) < 2 or tuple(numbers) in _hidden_counts():
            numbers = list(range(COUNTS_TO, 0, -1))
    asked, answer = _ask_to_count(rng, numbers)
    return variation.dress(rng, asked) if rng.random() < 0.3 else asked, answer


def held_out_too_far() -> list[tuple[str, str]]:
    rng = random.Random("held-out too far wordings")
    return [(_ask_too_far(rng, pair), TOO_FAR) for pair in sorted(_hidden_too_far())]


@cache
def _hidden_too_far() -> frozenset[Pair]:
    rng = random.Random("held-out too far")
    drawn: set[Pair] = {(100, 400), (10, 300)}
    while len(drawn) < _NUM_HELD_OUT_TOO_FAR:
        drawn.add(_draw_any_too_far(rng))
    return frozenset(drawn)


def too_far_turn(rng: random.Random) -> tuple[str, str]:
    if rng.random() < 0.1:
        asked = f"{rng.choice(('Count to', 'count to', 'Please count to'))} {rng.choice(_FAR_WORDS)}"
        return asked, TOO_FAR
    while (pair := _draw_too_far(rng)) in _hidden_too_far():
        pass
    asked = _ask_too_far(rng, pair)
    return variation.dress(rng, asked) if rng.random() < 0.3 else asked, TOO_FAR


def _draw_too_far(rng: random.Random) -> Pair:
    """Often what looks like a count that it can do: little too far and down, or between round numbers."""
    if rng.random() < 0.25:
        return rng.randint(COUNTS_TO + 1, COUNTS_TO + 60), rng.randint(0, COUNTS_TO)
    if rng.random() < 0.4:  # between round numbers, as people ask
        return rng.choice((0, 1, 10, 20, 50, 100)), rng.choice((120, 150, *range(200, 1001, 50)))
    return _draw_any_too_far(rng)


def _draw_any_too_far(rng: random.Random) -> Pair:
    """Where a count would begin and end, one of them above what it counts to."""
    larger = rng.randint(COUNTS_TO + 1, rng.choice((150, 200, 500, 1000, 10_000, 1_000_000)))
    kind = rng.random()
    other = 1 if kind < 0.2 else rng.randint(0, COUNTS_TO if kind < 0.7 else larger - 1)
    return (larger, other) if rng.random() < 0.2 else (other, larger)


def _ask_too_far(rng: random.Random, pair: Pair) -> str:
    first, last = pair
    wordings = _COUNT_DOWN if first > last else _COUNT_TO if first == 1 else _COUNT_UP
    asked = rng.choice(wordings).format(a=first, b=last)
    if rng.random() < 0.2:
        asked = asked.rstrip(".") + rng.choice(rng.choice(list(_COUNT_STEPS.values())))
    return asked


_FAR_WORDS = (
    "a thousand", "one thousand", "a million", "one million", "a billion", "two hundred", "five hundred",
    "infinity", "a hundred thousand", "three hundred",
)  # fmt: skip


def _ask_to_count(rng: random.Random, numbers: list[int]) -> tuple[str, str]:
    first, last, step = numbers[0], numbers[-1], numbers[1] - numbers[0]
    starts_plainly = first == step == abs(step)
    if step < 0:
        asked = rng.choice(_COUNT_DOWN)
    elif starts_plainly and rng.random() < 0.6:
        asked = rng.choice(_COUNT_TO)
    else:
        asked = rng.choice(_COUNT_UP)
    if abs(step) > 1:
        asked = asked.rstrip(".") + rng.choice(_COUNT_STEPS[abs(step)])
    if step > 1 and rng.random() < 0.2:
        # The steps need not hit the end: to 10 by twos from 1 stops at 9.
        last = min(COUNTS_TO, last + rng.randrange(step))
    return asked.format(a=first, b=last), ", ".join(map(str, numbers))


_COUNT_UP = (
    "Count from {a} to {b}",
    "Count from {a} to {b}.",
    "count from {a} to {b}",
    "count {a} to {b}",
    "Please count from {a} to {b}.",
    "Can you count from {a} up to {b}",
    "Count up from {a} to {b}",
    "List the numbers from {a} to {b}",
    "Say the numbers from {a} to {b}",
    "Write the numbers {a} to {b}",
    "Numbers from {a} to {b}",
)
_COUNT_DOWN = (
    "Count from {a} to {b}",
    "Count down from {a} to {b}",
    "count down from {a} to {b}",
    "Count from {a} down to {b}.",
    "Count backwards from {a} to {b}",
    "Please count down from {a} to {b}",
    "Numbers from {a} down to {b}",
)
_COUNT_TO = ("Count to {b}", "count to {b}", "Count up to {b}", "Can you count to {b}")
_COUNT_STEPS = {
    2: (" by twos", " by 2", " in steps of 2", " in twos"),
    5: (" by fives", " by 5", " in steps of 5", " in fives"),
    10: (" by tens", " by 10", " in steps of 10", " in tens"),
}


def _draw_count(rng: random.Random, longest: int) -> list[int]:
    while True:
        numbers = _draw_any_count(rng, 2, longest)
        if tuple(numbers) not in _hidden_counts():
            return numbers


def _draw_any_count(rng: random.Random, shortest: int, longest: int) -> list[int]:
    step = rng.choice((1, 1, 1, 1, 1, 2, 2, 5, 10))
    length = rng.randint(shortest, min(longest, COUNTS_TO // step))
    first = step if rng.random() < 0.25 else rng.randint(0, COUNTS_TO - (length - 1) * step)
    numbers = [first + i * step for i in range(length)]
    return numbers[::-1] if rng.random() < 0.25 else numbers
