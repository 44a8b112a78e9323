"""Answers that follow one of two grammars."""

import pytest

from app.engine.prompts.answer_grammars import either
from app.protocol.gbnf import read_gbnf

CALLS = 'name ::= "root" [a-z"]+\nroot ::= "<call>" space name\nspace ::= " "?\n'
TEXT = 'name ::= "n" space\nroot ::= "{" name "}"\nspace ::= " "?\n'


def test_rules_of_the_same_name_stay_apart_and_equal_ones_are_one():
    assert either(TEXT, CALLS) == (
        "root ::= root-1-2 | root-2\n"
        'root-1-2 ::= "{" name "}"\n'
        'name ::= "n" space\n'
        'space ::= " "?\n'
        'name-2 ::= "root" [a-z"]+\n'
        'root-2 ::= "<call>" space name-2\n'
    )


def test_a_rule_that_needs_another_one_of_the_same_name_is_another_one():
    one = 'a ::= b\nb ::= "x"\nroot ::= a\n'
    other = 'a ::= b\nb ::= "y"\nroot ::= a\n'
    assert either(one, other).splitlines()[4:] == ["a-2 ::= b-2", 'b-2 ::= "y"', "root-2 ::= a-2"]


@pytest.mark.parametrize("taken", ["name-2", "root-2", "root-1"])
def test_names_that_are_taken_are_not_given_again(taken):
    rules = read_gbnf(either(f'{TEXT}{taken} ::= "x"\n', CALLS))
    assert len(rules) == 7
