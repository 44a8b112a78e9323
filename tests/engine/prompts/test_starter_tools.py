"""The starter model's format of tools: the chat layer writes what training reads, and reads the calls."""

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.chats.attachment import PASSAGE, Attachment, with_attachments
from app.engine.prompts.chat_template import LimitedChatTemplate
from app.engine.prompts.chat_worker import ChatWorker
from app.engine.prompts.message_reader import AnswerReader
from app.protocol.answer_format import AnswerFormat, ChatParams
from app.protocol.request import Message, Role
from app.shelves.documents import DOCUMENTS, PASSAGES, documents_text
from starter_model import documents, small_talk, tools

TEMPLATE = (Path(tools.__file__).parent / "chat_template.jinja").read_text(encoding="utf-8").rstrip("\n")


@pytest.fixture(scope="module")
def template() -> Iterator[LimitedChatTemplate]:
    opened = LimitedChatTemplate(TEMPLATE, "<|endoftext|>", "<|im_end|>")
    yield opened
    opened.close()


def write(
    template: LimitedChatTemplate, chat: tools.ToolChat, parallel: bool = False
) -> tuple[str, AnswerFormat]:
    messages = [Message(Role.SYSTEM, chat.system)] if chat.system else []
    for turn in chat.turns:
        messages.append(Message(Role.USER, turn.asked))
        if turn.name:
            function = {"name": turn.name, "arguments": json.dumps(turn.arguments)}
            call = {"id": "1", "type": "function", "function": function}
            messages.append(Message(Role.ASSISTANT, "", json.dumps({"tool_calls": [call]})))
            messages.append(Message(Role.TOOL, turn.result, json.dumps({"tool_call_id": "1"})))
        messages.append(Message(Role.ASSISTANT, turn.answer))
    definitions = json.dumps([tool.definition() for tool in chat.tools])
    return template.write(messages, "", ChatParams(tools=definitions, parallel_tool_calls=parallel))


@pytest.mark.parametrize("seed", range(20))
def test_prompts_are_those_of_the_training(template, seed):
    chat = tools.random_tool_chat(random.Random(seed), longest=4)
    turns = (f"<|im_start|>{role}\n{content}<|im_end|>\n" for role, content in chat.messages())
    prompt, _ = write(template, chat)
    assert prompt == "".join(turns) + "<|im_start|>assistant\n"


def test_calls_as_the_training_writes_them_are_read(template):
    chat_layer = ChatWorker()
    for chat in tools.held_out_calls()[:20]:
        (turn,) = chat.turns
        _, answer_format = write(template, chat)
        (trigger,) = answer_format.triggers
        written = tools.written_call(turn.name, turn.arguments)
        assert written.startswith(trigger.text)
        (call,) = AnswerReader(chat_layer, answer_format.parser).read(written, is_last=True).tool_calls
        assert (call.name, json.loads(call.arguments)) == (turn.name, turn.arguments)
    chat_layer.close()


def test_without_tools_a_prompt_is_as_it_was(template):
    messages = [Message(Role.SYSTEM, "Be brief."), Message(Role.USER, "1 + 1"), Message(Role.ASSISTANT, "2")]
    assert template.render(messages) == (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n1 + 1<|im_end|>\n"
        "<|im_start|>assistant\n2<|im_end|>\n<|im_start|>assistant\n"
    )


def test_held_out_words_are_not_trained():
    rng = random.Random(0)
    trained = {one.description.split(".")[0].lower() for _ in range(2000) for one in (tools.draw_tool(rng),)}
    held_out = [chat.tools[0].description.split(".")[0].lower() for chat in tools.held_out_calls()]
    known = [one for one in held_out if one in trained]
    assert len(known) < len(held_out) / 20, known


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
