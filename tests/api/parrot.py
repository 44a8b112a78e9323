"""A model that writes one text, whatever it is asked."""

from pathlib import Path

from tests.conftest import TINY_CONTEXT
from tests.fakes import END, CountingBackend

TEMPLATES = Path(__file__).parents[1] / "templates"
QWEN = (TEMPLATES / "Qwen-Qwen2.5-7B-Instruct.jinja").read_text()
QWEN3 = (TEMPLATES / "Qwen-Qwen3-0.6B.jinja").read_text()
# It knows neither tools nor a system message, as Gemma 2's.
STRICT = (
    "{% if messages[0].role == 'system' %}{{ raise_exception('No system message') }}{% endif %}"
    "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Not in turn') }}{% endif %}[{{ m.role }}]{{ m.content | trim }}\n{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)
TURNS = "{% for m in messages %}{{ m.role }}={{ m.reasoning_content }}|{{ m.content }};{% endfor %}"
CALL = 'So: <tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>'
SCHEMA = {  # of which a grammar cannot make sure that it is a multiple
    "type": "object",
    "properties": {"n": {"$ref": "#/$defs/n"}},
    "required": ["n"],
    "$defs": {"n": {"type": "integer", "multipleOf": 5}},
}
THOUGHT = "<think>\nLet me see.\n</think>\n\n"


class Parrot(CountingBackend):
    """Behind a template, if one is given."""

    def __init__(self, text: str, template: str | None = None) -> None:
        self._text = text.encode()
        self.num_prompt_tokens = 0
        super().__init__(self._next, **(TINY_CONTEXT | {"n_ctx": 8192}))
        self.chat_template = template

    def _next(self, token_ids):
        self.num_prompt_tokens = self.num_prompt_tokens or len(token_ids)
        written = len(token_ids) - self.num_prompt_tokens
        return self._text[written] if 0 <= written < len(self._text) else END


def with_tools(text: str, template: str = QWEN) -> Parrot:
    return Parrot(text, template)
