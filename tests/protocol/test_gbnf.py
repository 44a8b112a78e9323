import pytest

from app.protocol.gbnf import MAX_NESTING, MAX_REPETITIONS, Characters, GbnfError, Symbol, read_gbnf


def letter(text: str, **times: object) -> Symbol:
    return Symbol(text=tuple(Characters(((ord(char), ord(char)),)) for char in text), **times)


def test_rules_are_read_by_name():
    rules = read_gbnf('root ::= "ab" item | "c"\nitem ::= [0-9]+')
    assert rules["root"] == [[letter("ab"), Symbol("item")], [letter("c")]]
    digits = Characters(((ord("0"), ord("9")),))
    assert rules["item"] == [[Symbol(text=(digits,), max_times=None)]]


def test_a_group_is_a_rule_whose_name_nobody_can_write():
    rules = read_gbnf('root ::= ("a" | "b")*')
    [[group]] = rules["root"]
    assert "_" in group.name
    assert (group.min_times, group.max_times) == (0, None)
    assert rules[group.name] == [[letter("a")], [letter("b")]]


@pytest.mark.parametrize(
    ("written", "times"),
    [
        ("*", (0, None)),
        ("+", (1, None)),
        ("?", (0, 1)),
        ("{3}", (3, 3)),
        ("{2,}", (2, None)),
        ("{1,4}", (1, 4)),
    ],
)
def test_how_often_something_may_come(written, times):
    [[symbol]] = read_gbnf(f'root ::= "a"{written}')["root"]
    assert (symbol.min_times, symbol.max_times) == times


def test_more_than_the_library_counts_is_without_end():
    [[symbol]] = read_gbnf(f'root ::= "a"{{0,{MAX_REPETITIONS + 1}}}')["root"]
    assert symbol.max_times is None


@pytest.mark.parametrize(
    ("escaped", "code_point"), [(r"\x41", 0x41), (r"\u00e4", 0xE4), (r"\U0001F600", 0x1F600), (r"\n", 10)]
)
def test_escapes(escaped, code_point):
    [[symbol]] = read_gbnf(f'root ::= "{escaped}"')["root"]
    assert symbol.text == (Characters(((code_point, code_point),)),)


def test_a_negated_range_has_all_others():
    [[symbol]] = read_gbnf("root ::= [^a-c]")["root"]
    [characters] = symbol.text
    assert ord("d") in characters
    assert ord("b") not in characters


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('root "a"', "must begin with its name"),
        ('root ::= ("a"', r"a \) is missing"),
        ('root ::= "a")', r"\( is missing"),
        ("root ::= *", "nothing before"),
        ('root ::= "a"{4,2}', "the second number"),
        ("root ::= <think>", "a token in <>"),
        ("root ::= " + "(" * (MAX_NESTING + 2), "groups are in each other"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text, reason):
    with pytest.raises(GbnfError, match=rf"line 2: .*{reason}"):
        read_gbnf(f"# a comment\n{text}")
