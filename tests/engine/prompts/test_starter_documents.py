"""The starter model is taught to read documents in the form in which the program writes them."""

import random

from app.chats.attachment import PASSAGE, Attachment, with_attachments
from app.shelves.documents import DOCUMENTS, PASSAGES, documents_text
from starter_model import documents, small_talk

NUM_CHATS = 300


def test_the_sentences_before_documents_are_the_programs():
    assert (documents.DOCUMENTS, documents.PASSAGES) == (DOCUMENTS, PASSAGES)


def test_files_stand_as_the_program_quotes_them():
    """A text that comes back out of a prompt goes into the same prompt again."""
    layouts = set()
    for seed in range(NUM_CHATS):
        chat = documents.random_chat(random.Random(seed), longest=2)
        system, asked = chat.system or "", chat.turns[0][0]
        if system.startswith(DOCUMENTS):
            files = [
                (int(head[1:].split("]")[0]), head.split("] ")[1], text)
                for head, text in _files(system.removeprefix(DOCUMENTS))
            ]
            assert system.startswith(documents_text(files))
            layouts.add("shelf")
        elif asked.startswith("File: "):
            attached = [Attachment(head.removeprefix("File: "), text) for head, text in _files(asked)]
            assert asked.startswith(with_attachments("", attached) + "\n\n")
            layouts.add("files")
        elif system.startswith(PASSAGES):
            attached = [Attachment(head, text, PASSAGE) for head, text in _files(asked)]
            assert asked.startswith(with_attachments("", attached) + "\n\n")
            layouts.add("passages")
    assert layouts == {"shelf", "files", "passages"}


def _files(text: str) -> list[tuple[str, str]]:
    """The line before each block, and what is in it."""
    parts = text.strip().split("\n```")
    heads = [part.strip().rpartition("\n")[2] for part in parts[::2]]
    return list(zip(heads, (part.removeprefix("\n") for part in parts[1::2]), strict=False))


def test_an_answer_is_a_sentence_of_the_text():
    for chat in documents.held_out_documents():
        ((asked, answer),) = chat.turns
        sentence = answer.rpartition(" [")[0] or answer
        assert sentence in (chat.system or "") + asked
        assert answer != small_talk.OFF_TOPIC
