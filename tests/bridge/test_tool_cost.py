import pytest

from app.bridge.chat_session import ChatSession
from app.engine.prompts.prompt_builder import PromptBuilder
from tests.bridge.test_tool_rounds import settle
from tests.bridge.tool_fakes import FakeKit, FakeReaders, tool
from tests.fakes import CountingBackend

TEMPLATE = (
    "{% if tools %}{{ tools | tojson }}{% endif %}{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{{ m.content }}{% for c in m.tool_calls or [] %}<tool_call>\n"
    '{"name": {{ c.function.name | tojson }}, "arguments": {{ c.function.arguments | tojson }}}\n</tool_call>'
    "{% endfor %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.fixture
def prompts_of(engine, load):
    builders = []

    def open_model(template: str) -> None:
        thread = load("starter.gguf")
        backend = CountingBackend(n_ctx=8192)
        backend.chat_template = template
        builders.append(PromptBuilder(backend))
        use_nothing = thread.use_prompts
        engine.front.use_prompts = lambda work: use_nothing(lambda _none: work(builders[-1]))

    yield open_model
    for builder in builders:
        builder.close()


@pytest.fixture
def session(workspace) -> ChatSession:
    workspace.tools.kit = FakeKit(tool("look", "city"), tool("clock"))
    workspace.tools.readers = FakeReaders()
    return workspace.new_chat()


async def measured(session: ChatSession) -> int | None:
    assert session.tools.num_tokens is None
    await settle()
    return session.tools.num_tokens


async def test_no_tools_cost_nothing(qloop, session) -> None:
    assert session.tools.num_tokens == 0


async def test_it_is_measured_what_the_chosen_tools_add_to_a_prompt(qloop, session, prompts_of) -> None:
    prompts_of(TEMPLATE)
    told = []
    session.limits_changed.connect(lambda: told.append(session.tools.num_tokens))
    session.set_tools(["fake/clock"])
    one = await measured(session)
    assert one
    assert one > 200, "a token for each character here"
    assert told[-1] == one
    session.set_tools(["fake/*"])
    both = await measured(session)
    assert both
    assert both > one + 50


async def test_a_template_that_refuses_them_has_no_cost_of_them(qloop, session, prompts_of) -> None:
    prompts_of("{{ raise_exception('no chat is good enough') }}")
    session.set_tools(["fake/*"])
    assert await measured(session) is None


async def test_without_a_model_nothing_is_measured(qloop, session) -> None:
    session.set_tools(["fake/*"])
    assert await measured(session) is None


@pytest.mark.parametrize("n_seq_max", [0, 4])
async def test_what_tools_cost_is_not_asked_of_another_host(qloop, session, load, n_seq_max) -> None:
    thread, asked = load("m", server="http://gpu-box:8000", n_seq_max=n_seq_max), []
    thread.use_prompts = asked.append
    session.set_tools(["fake/clock"])
    assert await measured(session) is None
    assert asked == [], "nothing goes there unasked"
