"""A model that writes one text, whatever it is asked."""

from tests.conftest import TINY_CONTEXT
from tests.fakes import END, CountingBackend

TEMPLATE = (
    "{{ tools | tojson if tools else '' }}{% for m in messages %}"
    "{{ m.role }}: {{ m.content }}{{ m.tool_calls | tojson if m.tool_calls }}\n{% endfor %}"
)
CALL = 'So: <tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'


class Parrot(CountingBackend):
    """Behind a template, if one is given."""

    def __init__(self, text: str, template: str | None = None) -> None:
        self._text = text.encode()
        self.num_prompt_tokens = 0
        super().__init__(self._next, **(TINY_CONTEXT | {"n_ctx": 2048}))
        self.chat_template = template

    def _next(self, token_ids):
        self.num_prompt_tokens = self.num_prompt_tokens or len(token_ids)
        written = len(token_ids) - self.num_prompt_tokens
        return self._text[written] if written < len(self._text) else END


def with_tools(text: str) -> Parrot:
    return Parrot(text, TEMPLATE)
