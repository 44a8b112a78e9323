import asyncio
from collections.abc import Iterator

import pytest

from app.engine.prompts.chat_worker import ChatWorker
from app.services.form_check import Form, FormCheck


@pytest.fixture
def check() -> Iterator[FormCheck]:
    chat_layer = ChatWorker()
    yield FormCheck(chat_layer)
    chat_layer.close()


@pytest.mark.native
def test_a_schema_that_grammars_can_follow(check: FormCheck) -> None:
    found = asyncio.run(check.verdict(Form.JSON_SCHEMA, '{"type": "object"}'))
    assert (found.problem, found.warning) == ("", "")


@pytest.mark.native
def test_what_is_not_made_sure_of(check: FormCheck) -> None:
    schema = '{"type": "object", "properties": {"age": {"type": "integer", "multipleOf": 5}}}'
    found = asyncio.run(check.verdict(Form.JSON_SCHEMA, schema))
    assert not found.problem
    assert "#/properties/age: multipleOf" in found.warning


@pytest.mark.native
def test_a_schema_that_is_none(check: FormCheck) -> None:
    found = asyncio.run(check.verdict(Form.JSON_SCHEMA, '{"type": "no such type"}'))
    assert found.problem


def test_a_grammar(check: FormCheck) -> None:
    assert not asyncio.run(check.verdict(Form.GRAMMAR, 'root ::= "a"')).problem
    found = asyncio.run(check.verdict(Form.GRAMMAR, "root ::= ("))
    assert found.problem.startswith("The grammar cannot be used: line 1")
