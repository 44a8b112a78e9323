"""JSON that callers give as text: whatever it is, the worst is a clear error."""

import pytest

from app.protocol.errors import InvalidRequestError
from app.protocol.json_object import MAX_JSON_CHARS, check_size, map_strings, read_object
from app.protocol.request import Message, Request, Role


def test_nothing_is_an_empty_object():
    assert read_object("", "x") == {}
    assert read_object('{"a": [1, null]}', "x") == {"a": [1, None]}


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "3",
        "null",
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": ' + "9" * 5000 + "}",
        '{"a": ' + "[" * 100 + "]" * 100 + "}",
        '{"a": ' + "[" * 100_000,
        '{"a": "' + "x" * MAX_JSON_CHARS + '"}',
        3,
    ],
    ids=range(11),
)
def test_what_is_no_object_is_refused_by_its_name(text):
    with pytest.raises(InvalidRequestError, match="the thing"):
        read_object(text, "the thing")


def test_every_string_can_be_changed_and_nothing_else():
    value = {"a": ["b", 1, {"c": None}], "d": True}
    assert map_strings(value, str.upper) == {"A": ["B", 1, {"C": None}], "D": True}


def test_a_request_and_a_message_refuse_it_at_once():
    with pytest.raises(InvalidRequestError, match="fields of a message"):
        Message(Role.TOOL, "", "[]")
    for taken in ("role", "content"):
        with pytest.raises(InvalidRequestError, match=f"cannot set its {taken}"):
            Message(Role.TOOL, "", f'{{"{taken}": "x"}}')
    with pytest.raises(InvalidRequestError, match="template_variables"):
        Request("r", "c", (Message(Role.USER, "x"),), template_variables="{")
    with pytest.raises(InvalidRequestError, match="cannot set the messages"):
        Request("r", "c", (Message(Role.USER, "x"),), template_variables='{"messages": []}')


MANY = {
    "objects and lists": b"[" + b"[]," * 20_000 + b"[]]",
    "fields": b"{" + b",".join(b'"k%d":1' % number for number in range(50_001)) + b"}",
    "texts": b"[" + b'"a:",' * 150_001 + b'"a"]',
    "values": b"[" + b"1," * 300_001 + b"1]",
}


@pytest.mark.parametrize(("what", "text"), MANY.items(), ids=MANY)
def test_what_would_hold_up_all_other_threads_is_refused(what, text):
    """Each value takes some tenth of a microsecond to make, and 600,000 lists took 0.2 s."""
    with pytest.raises(ValueError, match=what):
        check_size(text)


def test_what_stands_in_texts_is_not_counted():
    check_size(b'{"code": "' + b'if (a[1]) { b: \\"c\\" } ' * 50_000 + b'"}')
    check_size(b'{"prose": "' + b"so, and so, " * 200_000 + b'"}')
