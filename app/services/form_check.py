"""Whether answers can be held to a JSON schema or a grammar. GUI thread; a child process does the work."""

import asyncio
from dataclasses import dataclass
from enum import StrEnum

from app.engine.prompts.chat_worker import ChatWorker
from app.protocol.errors import RequestError
from app.protocol.grammar import check_grammar
from app.system.said import together


class Form(StrEnum):
    """What an answer has to be. The names are those of SamplingParams."""

    FREE = ""
    JSON_SCHEMA = "json_schema"
    GRAMMAR = "grammar"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Sentences. With a `problem` no answer can begin; a `warning` tells what is not made sure of."""

    problem: str = ""
    warning: str = ""


class FormCheck:
    def __init__(self, chat_layer: ChatWorker) -> None:
        self._chat_layer = chat_layer

    async def verdict(self, form: Form, text: str) -> Verdict:
        return await asyncio.to_thread(self._found, form, text)

    def _found(self, form: Form, text: str) -> Verdict:
        """On a thread of its own."""
        try:
            if form is Form.JSON_SCHEMA:
                return Verdict(warning=together(*self._chat_layer.format_of(text).warnings))
            self._chat_layer.check(text)
            check_grammar(text)
        except RequestError as error:
            return Verdict(problem=str(error))
        return Verdict()
