import pytest

from app.attachments.refusal import Reason
from app.bridge.token_counter import TokenCount
from app.chats.attachment import Attachment
from app.ui.base.attachment_words import PASTED, kind_label, refusal_text, title, tokens_text


@pytest.mark.parametrize("reason", Reason)
def test_every_refusal_names_the_file_on_one_line(reason: Reason) -> None:
    text = refusal_text("a\nb{c}\u202e.txt", reason)
    assert "“a b{c}.txt”" in text
    assert "\n" not in text
    assert text.endswith(".")


def test_an_image_that_cannot_be_read_says_what_helps() -> None:
    assert "Save it as PNG or JPEG" in refusal_text("photo.png", Reason.IMAGE)


def test_an_attachment_is_told_by_its_name_and_kind_and_a_paste_by_its_length() -> None:
    attachment = Attachment("a\nb.pdf", "text", "pdf")
    assert (title(attachment), kind_label(attachment)) == ("a b.pdf", "PDF")
    pasted = Attachment("Pasted text", "x" * 12_345, PASTED)
    assert (title(pasted), kind_label(pasted)) == ("Pasted text, 12,345 characters", "")
    assert kind_label(Attachment("a.epub", "text", "epub")) == "epub"


def test_tokens_are_told_once_they_are_known() -> None:
    assert tokens_text(None) == ""
    assert tokens_text(TokenCount(1204)) == "1,204 tokens"
    assert tokens_text(TokenCount(2_600_000, is_exact=False)) == "about 2,600,000 tokens"
