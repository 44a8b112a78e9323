"""Which grammars llama.cpp gets to see. What becomes of those is in tests/native/test_sampler.py."""

import pytest

from app.protocol import grammar
from app.protocol.errors import InvalidRequestError
from app.protocol.grammar import MAX_KEPT, MAX_WAYS, check_grammar, is_costly, note_fault


def chain(count: int, *ways: str) -> str:
    """Rules that each begin with the next one, in as many ways; the last is a letter."""
    rules = [f"r{n} ::= " + " | ".join(f"r{n + 1} {way}" for way in ways) for n in range(count)]
    return "\n".join(["root ::= r0", *rules, f'r{count} ::= "x"'])


ENDLESS_OPTION = 'optional ::= nothing\nnothing ::= ""\n'

READABLE = {
    "letters": r'root ::= "a\n\"\\" [a-z^\]\-\x41\u00e9\U0001F600] [^"] .',
    "a caret, quoted": 'root ::= "^"',
    "comments": '# first\n\nroot ::= # what\n  "a" # end\n',
    "alternatives over lines": 'root ::= "a" |\n  "b"\n',
    "a group over lines": 'root ::= ("a"\n  | "b"\n)+\nother ::= "c"',
    "repetitions": 'root ::= "a"* "b"+ "c"? "d"{2} "e"{2,} "f"{ 2 , 3 } ("g" | "h"){0}',
    "repeated repetitions": 'root ::= "a"{2}{3}?',
    "nothing": "root ::=",
    "an empty alternative": 'root ::= | "a"',
    "right recursion": 'root ::= "a" root | ""',
    "words with spaces": 'root ::= [a-z]+ (" " [a-z]+)*',
    "two ways to begin": 'root ::= "(" root ")" | "[" root "]" | ""',
    "as many ways as characters": "root ::= [a-z]* [a-z]*",
    "recursion in the middle": 'root ::= "(" root ")" | "x"',
    "no repetition at all": 'root ::= root{0} "a"',
    "Windows line ends": 'root ::= a\r\na ::= "b"\r\n',
    "many in a row": "root ::= " + '"a" ' * 10_000,
    "many characters": f"root ::= [{''.join(chr(0x4E00 + 2 * n) for n in range(MAX_WAYS - 1))}]*",
    "as many words, again and again": "root ::= (" + " | ".join(f'"{n:03}"' for n in range(499)) + ")*",
    "many to choose from": "root ::= " + " | ".join(f'"{n}"' for n in range(MAX_WAYS)),
    "nested as deep as allowed": "root ::= " + "(" * 500 + '"a"' + ")" * 500,
    "a repetition beyond counting": 'root ::= "a"{1,1000000000}',
}

WRONG = {
    "no rules": ("", "no rule 'root'"),
    "no root": ('a ::= "b"', "no rule 'root'"),
    "no definition": ("root", "line 1: ::= is missing"),
    "no name": ('::= "a"', "line 1: a rule must begin with its name"),
    "a missing rule": ("root ::= a b\na ::= b", "rule 'root' needs a rule 'b'"),
    "two definitions in one line": ('root ::= "a" b ::= "c"', "line 1: '::=' is not expected"),
    "nothing, and another rule": ('root ::=\nother ::= "a"', "line 2: '::=' is not expected"),
    "an open quote": ('root ::= "a', "line 1: '\"a' cannot be read"),
    "an open range": ("\n\nroot ::= [a", "line 3: '\\[a' cannot be read"),
    "an open group": ('root ::= ("a"', r"line 1: a \) is missing"),
    "a closed group": ('root ::= "a")', r"line 1: \( is missing"),
    "an unknown escape": (r'root ::= "\d"', "line 1: .* cannot be read"),
    "an underscore": ('root ::= "a"_', "line 1: '_' cannot be read"),
    "nothing to repeat": ("root ::= *", r"nothing before \*"),
    "nothing in quotes to repeat": ('root ::= ""*', r"nothing before \*"),
    "nothing in brackets to repeat": ("root ::= [^]+", r"nothing before \+"),
    "a NUL": ('root ::= "a\0b"', "NUL"),
    "half of a pair": ('root ::= "\ud800"', "lone surrogate"),
    "no text that UTF-8 has": ('root ::= "\udcff"', "lone surrogate"),
}

# llama.cpp takes each of these, and ends or stops the process, at once or some tokens later.
DEADLY = {
    "20,000 groups in each other": (
        "root ::= " + "(" * 20_000 + '"a"' + ")" * 20_000,
        "more than 500 groups",
    ),
    "fewer at most than at least": ('root ::= "a"{5,3}', "must not be the smaller one"),
    "a thousand million": ('root ::= "a"{1000000000}', "more than 2,000 repetitions"),
    "repetitions in repetitions": ('root ::= ("a"{0,100}){0,100}', "more than 2,000 rules"),
    "a long text again and again": (f'root ::= "{"a" * 30_000}"{{0,2000}}', "more than 200,000 elements"),
    "more than 64 KiB": ('root ::= "' + "a" * 70_000 + '"', "more than 65,536 bytes"),
    "a long name again and again": ("a" * 1001 + ' ::= "x"', "more than 1,000 characters"),
    "left recursion": ('root ::= root "a" | "b"', "'root' is left-recursive"),
    "left recursion by two": ('root ::= a "x" | "y"\na ::= root "z"', "is left-recursive"),
    "left recursion in a group": ('root ::= (root "a") | "b"', "is left-recursive"),
    "left recursion in a repetition": ('root ::= root* "b"', "is left-recursive"),
    "left recursion behind what may be empty": (
        ENDLESS_OPTION + 'root ::= optional root "z" | "y"',
        "'root' is left-recursive",
    ),
    "such a recursion further on": (
        ENDLESS_OPTION + 'root ::= "q" a\na ::= optional a "z" | "y"',
        "'a' is left-recursive",
    ),
    "no end": (ENDLESS_OPTION + 'root ::= "x" a\na ::= optional a', "rule 'a' can never end"),
    "no end, but characters": ('root ::= "x" root', "rule 'root' can never end"),
    "two to the 24th beginnings": (chain(24, '"1"', '"2"'), "more than 500 ways"),
    "three thousand options": ("root ::= " + '"x"? ' * 3000, "more than 500 ways"),
    "options in the middle": ('root ::= "{" ' + '"x"? ' * 3000, "more than 500 ways"),
    "five thousand rules deep": (chain(3000, ""), "enters more than 1,000 rules"),
    "brackets that begin alike": (
        'root ::= "(" root ")" | "(" root ")" "+" root | [0-9]',
        r"'root' can read '\(' again and again in more than 1,000 ways",
    ),
    "stars in stars": (
        'root ::= ([^*] | "**" root "**" | "*" root "*")*',
        r"'root' can read '\*' again and again",
    ),
    "words without a space between": ('root ::= ([a-z]+ " "?)*', "'root' can read 'a' again and again"),
    "words in the middle": ('root ::= "\'" ([a-z]+ " "?)* "\'"', "'root' can read 'a' again and again"),
    "more ways than can be looked at": (
        "root ::= " + " ".join(f'[{chr(code)}-{chr(code + 99)}]* "x"' for code in range(0x4E00, 0x5400)),
        "more ways to read a text than can be looked at",
    ),
    "more characters than one token may be compared with": (
        f"root ::= [{''.join(chr(0x4E00 + 2 * n) for n in range(3000))}]*",
        "more than 500 ways to go on, or characters in \\[\\]",
    ),
    "the same, in two places": (
        f"root ::= ([^{''.join(chr(0x4E00 + 2 * n) for n in range(300))}] | [{'ab' * 150}])*",
        "more than 500 ways",
    ),
    "the same, further on": (
        'root ::= "q" a\na ::= "=" a "x" | "=" a "y" | ""',
        "'a' can read '=' again and again",
    ),
    "a token behind characters": ('root ::= [a-c] !<[5]> | [a-c] root | "x"', "a token in <> cannot be used"),
    "a token that is tokenised": ("root ::= <" + "a" * 60_000 + ">", "a token in <> cannot be used"),
}


@pytest.mark.parametrize("text", READABLE.values(), ids=READABLE)
def test_readable_grammars_pass(text):
    check_grammar(text)


@pytest.mark.parametrize(("text", "reason"), WRONG.values(), ids=WRONG)
def test_wrong_ones_are_refused_with_the_place(text, reason):
    with pytest.raises(
        InvalidRequestError, match=f"^The grammar cannot be used: .*{reason}.*Correct or remove it"
    ):
        check_grammar(text)


@pytest.mark.parametrize(("text", "reason"), DEADLY.values(), ids=DEADLY)
def test_deadly_ones_are_refused(text, reason):
    with pytest.raises(InvalidRequestError, match=f"^The grammar cannot be used: .*{reason}"):
        check_grammar(text)


def test_a_group_is_told_by_the_rule_it_is_in():
    with pytest.raises(InvalidRequestError, match="rule 'a' needs a rule 'b'"):
        check_grammar("root ::= a\na ::= (b)")


def test_the_message_names_what_the_user_wrote():
    with pytest.raises(InvalidRequestError, match=r"^The JSON schema cannot be used: "):
        check_grammar("", "JSON schema")


def test_what_takes_long_to_check_is_known_after_a_moment():
    """So that it can be checked in another process, which can be killed."""
    costly = "root ::= " + "(" * 400 + "[a-y]" + ")*" * 400
    assert not is_costly('root ::= "a"*')
    assert not is_costly("root ::= a")  # its fault is found at once
    assert is_costly(costly)
    assert is_costly(costly)
    note_fault(costly, "it is not liked")
    assert not is_costly(costly)
    with pytest.raises(InvalidRequestError, match="cannot be used: it is not liked"):
        check_grammar(costly)


def test_only_the_latest_findings_are_kept():
    for number in range(MAX_KEPT + 10):
        note_fault(f'root ::= "{number}"', "")
    assert len(grammar._faults) == MAX_KEPT
