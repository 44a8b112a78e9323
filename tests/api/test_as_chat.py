"""Chats of all protocols reach the model alike."""

import pytest

from tests.api.conftest import serving
from tests.api.parrot import Parrot

SAYS = "{{ m.role }}={{ m.content }};"
ALL = "{% for m in messages %}" + SAYS + "{% endfor %}"
ONE_SYSTEM = (  # as that of Qwen 3.5
    "{% for m in messages %}{% if m.role == 'system' and not loop.first %}"
    "{{ raise_exception('System message must be at the beginning') }}{% endif %}" + SAYS + "{% endfor %}"
)


def said(*texts: str) -> list[dict[str, str]]:
    """By "role: content"."""
    return [dict(zip(("role", "content"), text.split(": "), strict=True)) for text in texts]


LATER = said("user: B", "assistant: C", "system: D", "user: E")
WITH_DEVELOPER = said("developer: A2", "user: B", "assistant: C", "developer: D", "user: E")
REQUESTS = {
    "chat completions": ("/v1/chat/completions", {"messages": [*said("system: A", "system: A2"), *LATER]}),
    "messages": ("/v1/messages", {"system": "A", "messages": LATER, "max_tokens": 9}),
    "responses": ("/v1/responses", {"instructions": "A", "input": WITH_DEVELOPER}),
    "ollama": ("/api/chat", {"messages": [*said("system: A", "system: A2"), *LATER], "stream": False}),
}


@pytest.mark.native
@pytest.mark.parametrize("protocol", REQUESTS)
@pytest.mark.parametrize("template", [ALL, ONE_SYSTEM], ids=["takes all", "takes one system message"])
async def test_a_later_system_message_is_told_as_the_template_takes_it(protocol, template):
    path, body = REQUESTS[protocol]
    async with serving(Parrot("ok", template)) as served:
        status, answer = await served.post(path, body)
    assert status == 200, answer
    has_two = protocol != "messages"
    first = "system=A;system=A2;" if has_two else "system=A;"
    prompt = f"{first}user=B;assistant=C;system=D;user=E;"
    if template is ONE_SYSTEM:
        prompt = prompt.replace("system=A;system=A2;", "system=A\n\nA2;").replace("system=D", "user=D")
    usage = answer.get("usage", answer)
    counts = (usage.get(name) for name in ("prompt_tokens", "input_tokens", "prompt_eval_count"))
    assert next(filter(None, counts)) == len(prompt)
