from hypothesis import given
from hypothesis import strategies as st

from app.chats.attachment import valid_unicode


@given(st.text())
def test_what_can_be_encoded_stays_as_it_is(text: str) -> None:
    assert valid_unicode(text) == text


@given(st.text(st.characters(codec=None, categories=["Cs", "L", "N"])))
def test_the_result_can_always_be_encoded(text: str) -> None:
    assert len(valid_unicode(text).encode()) >= len(text)
