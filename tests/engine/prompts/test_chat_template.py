"""Templates are programs of strangers: they must neither reach out nor hang nor eat the memory."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from app.engine.prompts.answer_grammars import OWN_RULES, STEPS_OF_TOOLS
from app.engine.prompts.chat_template import CHATML, ChatTemplate, LimitedChatTemplate
from app.protocol.answer_format import ChatParams, ToolChoice
from app.protocol.errors import ChatTemplateError
from app.protocol.grammar import fault_of, is_costly
from app.protocol.request import Message, Role

ROOT = Path(__file__).parents[3]
CHAT = (
    Message(Role.SYSTEM, "Be brief."),
    Message(Role.USER, "Hi"),
    Message(Role.ASSISTANT, "Hello."),
    Message(Role.USER, "Bye"),
)
CHATML_TEXT = (
    "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"
    "<|im_start|>assistant\nHello.<|im_end|>\n<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n"
)


@pytest.fixture
def limited():
    opened: list[LimitedChatTemplate] = []

    def open_template(source: str, tool_source: str = "") -> LimitedChatTemplate:
        opened.append(LimitedChatTemplate(source, "<s>", "</s>", tool_source=tool_source))
        return opened[-1]

    yield open_template
    for template in opened:
        template.close()


def test_chatml_ends_where_the_answer_begins():
    assert ChatTemplate(CHATML).render(CHAT) == CHATML_TEXT


def test_the_child_renders_the_same_text(limited):
    assert limited(CHATML).render(CHAT) == CHATML_TEXT


@pytest.mark.native
def test_what_was_thought_in_earlier_turns_stays_unless_the_caller_asks_otherwise(limited):
    template = limited("{{ clear_thinking }}{% for one in messages %}{{ one.content }}{% endfor %}")
    assert template.render(CHAT[:1]) == "FalseBe brief."
    assert template.render(CHAT[:1], '{"preserve_reasoning": false}') == "TrueBe brief."


def test_templates_know_the_words_that_hugging_face_gives_them(limited):
    source = (
        "{{ bos_token }}{% for m in messages %}{% if m.role == 'assistant' %}{% continue %}{% endif %}"
        "{{ m | tojson }}{% endfor %}{{ strftime_now('%Y') | length }}{{ eos_token }}"
    )
    text = limited(source).render((Message(Role.USER, "ä<"), Message(Role.ASSISTANT, "x")))
    assert text == '<s>{"role": "user", "content": "ä<"}4</s>'


def test_templates_get_what_the_caller_gives_them(limited):
    source = "{{ messages[1].tool_calls[0].name }} {{ tools | tojson }} {{ add_generation_prompt }}"
    chat = (Message(Role.USER, "Hi"), Message(Role.ASSISTANT, "", '{"tool_calls": [{"name": "sum"}]}'))
    variables = '{"tools": ["\\ud800ä"], "add_generation_prompt": false}'
    for template in (limited(source), ChatTemplate(source)):
        assert template.render(chat, variables) == 'sum ["\ud800ä"] False'


def test_templates_get_the_day_and_the_tools_by_the_names_of_their_families(limited):
    text = limited("{{ date_string }}|{{ datetime }}").render(CHAT)
    assert re.fullmatch(r"\d\d \w{3} 20\d\d\|\w{3} \d\d 20\d\d", text)
    source = "{{ '' + functions }}"  # fails where there are none
    assert ChatTemplate(source).render(CHAT) == ""
    tools = '{"tools": [{"type": "function", "function": {"name": "sum"}}]}'
    assert json.loads(limited(source).render(CHAT, tools)) == [{"name": "sum"}]
    given = '{"date_string": "01 Jan 2000"}'
    assert ChatTemplate("{{ date_string }}").render(CHAT, given) == "01 Jan 2000"


def test_a_template_can_refuse_a_chat_in_its_own_words(limited):
    template = limited("{{ raise_exception('roles must alternate') }}")
    with pytest.raises(ChatTemplateError, match="roles must alternate"):
        template.render(CHAT)


@pytest.mark.parametrize(
    "source",
    [
        "{{ raise_exception(messages[0].content) }}",
        "{{ raise_exception([messages[0].content]) }}",
        "{{ messages | " + "a" * 1_000_000 + " }}",
    ],
    ids=["its words", "no words", "a filter"],
)
def test_of_what_a_template_says_a_sentence_is_passed_on(limited, source):
    with pytest.raises(ChatTemplateError, match="The model's chat template") as error:
        limited(source).render((Message(Role.USER, "a" * 1_000_000),))
    assert len(str(error.value)) < 600


def test_a_template_of_megabytes_is_not_even_read(limited):
    with pytest.raises(ChatTemplateError, match="it has more than 1,048,576 characters"):
        limited("x" * 2_000_000).render(CHAT)


def test_a_template_that_writes_more_than_any_context_holds_is_refused(limited):
    template = limited("{{ messages[0].content * 12 }}")
    with pytest.raises(ChatTemplateError, match="produced more than 32 MiB"):
        template.render((Message(Role.USER, "a" * 3_000_000),))
    assert len(template.render((Message(Role.USER, "a" * 100_000),))) == 1_200_000


@pytest.mark.parametrize(
    "source",
    [
        "{{ messages.__class__.__mro__[1].__subclasses__() }}",
        "{{ ''.__class__.__base__.__subclasses__() }}",
        "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
        "{{ self._TemplateReference__context }}{{ lipsum.__globals__['os'].system('id') }}",
        "{% set x = messages.append(1) %}",
        "{{ raise_exception.__globals__['os'].system('id') }}",
        "{% import 'os' as os %}",
    ],
)
def test_a_template_cannot_reach_python(source):
    """Not by Jinja2 either, which renders what llama.cpp cannot read."""
    with pytest.raises(ChatTemplateError):
        ChatTemplate(source).render(CHAT)


@pytest.mark.parametrize(
    "source",
    [
        "{{ ('a' * 10000000000) | length }}",
        "{% set ns = namespace(s='a') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
    ],
    ids=["10 GB string", "doubling"],
)
def test_a_template_that_eats_memory_ends_one_answer(limited, source):
    template = limited(source)
    with pytest.raises(ChatTemplateError, match="template"):
        template.render(CHAT)


def test_a_template_that_crashes_its_reader_is_told_so(limited):
    """Jinja2 would notice it by itself."""
    template = limited("{% macro again(n) %}{{ again(n + 1) }}{% endmacro %}{{ again(1) }}")
    with pytest.raises(ChatTemplateError, match=r"endless recursion|recursion depth"):
        template.render(CHAT)


def test_one_that_hangs_ends_one_answer_and_is_tried_again(limited):
    template = limited(
        "{% if messages[0].content == 'hang' %}{% for i in range(99999) %}{% for j in range(99999) %}"
        "{% endfor %}{% endfor %}{% endif %}fine"
    )
    with pytest.raises(ChatTemplateError, match="took more than"):
        template.render((Message(Role.USER, "hang"),))
    assert template.render(CHAT) == "fine"


def test_a_template_that_cannot_be_read_says_so(limited):
    template = limited("{% for m in messages %}")
    with pytest.raises(ChatTemplateError, match="cannot be read"):
        template.render(CHAT)


def test_a_script_without_a_main_guard_runs_once(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from app.engine.prompts.chat_template import LimitedChatTemplate\n"
        "from app.protocol.request import Message, Role\n"
        "template = LimitedChatTemplate('{{ messages[0].content }}')\n"
        "print(template.render((Message(Role.USER, 'once'),)))\n"
        "template.close()\n"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, env=environment, check=True
    )
    assert (done.stdout, done.stderr) == ("once\n", "")


TEMPLATES = ROOT / "tests" / "templates"
QWEN = (TEMPLATES / "Qwen-Qwen2.5-7B-Instruct.jinja").read_text()
TOOLS = json.dumps([{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}])
ASKED = (Message(Role.USER, "Hi"),)


@pytest.mark.native
def test_a_template_for_tools_is_used_where_there_are_tools(limited):
    template = limited(CHATML, QWEN)
    assert "<tools>" not in template.render(ASKED)
    text, found = template.write(ASKED, chat_params=ChatParams(tools=TOOLS))
    assert text.startswith("<|im_start|>system\nYou are Qwen")  # that template's own words
    assert [trigger.text for trigger in found.triggers] == ["<tool_call>\n"]


@pytest.mark.native
def test_a_template_for_tools_that_cannot_be_read_is_left_out(limited):
    text, found = limited(CHATML, "{% if %}").write(ASKED, chat_params=ChatParams(tools=TOOLS))
    assert text.startswith("<|im_start|>system\n# Tools")
    assert found.grammar


@pytest.mark.native
def test_a_template_that_shows_no_tools_but_has_calls_keeps_its_way_of_writing_them(limited):
    source = (TEMPLATES / "deepseek-ai-DeepSeek-V3.1.jinja").read_text()
    text, found = limited(source).write(CHAT, chat_params=ChatParams(tools=TOOLS))
    call = (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜><function-name><｜tool▁sep｜>"
        '{"<argument-name>": "<argument>"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
    )
    places = [text.index(part) for part in ("Be brief.", "# Tools", '"name": "add"', call, "<｜User｜>Hi")]
    assert places == sorted(places)
    assert [trigger.text for trigger in found.triggers] == ["<｜tool▁calls▁begin｜>"]


@pytest.mark.native
def test_calls_and_results_of_a_chat_are_shown_also_when_no_tools_are_offered_any_more(limited):
    call = {"id": "c", "type": "function", "function": {"name": "add", "arguments": {"a": 1}}}
    chat = (
        *ASKED,
        Message(Role.ASSISTANT, "", json.dumps({"tool_calls": [call]})),
        Message(Role.TOOL, "2", '{"tool_call_id": "c"}'),
    )
    text = limited(CHATML).render(chat)
    assert '<|im_start|>assistant\n<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>' in text
    assert "<|im_start|>user\n<tool_response>\n2\n</tool_response>" in text
    assert "# Tools" not in text


def tools_with(num_tools: int, num_parameters: int, **of_each: object) -> str:
    names = [f"parameter_{number}" for number in range(num_parameters)]
    properties = {
        name: {"type": "string", "description": "What it is about. " * 4} | of_each for name in names
    }
    parameters = {"type": "object", "properties": properties, "required": names[:2]}
    functions = [
        {"name": f"tool_{number}", "description": "", "parameters": parameters} for number in range(num_tools)
    ]
    return json.dumps([{"type": "function", "function": function} for function in functions])


GIVEN_UP = "patterns, and lengths and numbers above 10, in tools"


@pytest.mark.native
@pytest.mark.parametrize(
    ("num_tools", "num_parameters", "of_each", "given_up"),
    [
        (45, 7, {}, ""),
        (128, 6, {}, ""),
        (10, 12, {"maxLength": 10_000}, GIVEN_UP),
        (
            5,
            30,
            {"type": "array", "items": {"type": "string"}, "maxItems": 2000},
            GIVEN_UP,
        ),
        (45, 4, {"type": "integer", "minimum": 0, "maximum": 2**53 - 1}, GIVEN_UP),
        (45, 3, {"pattern": "^[a-z]{1,2000}$"}, GIVEN_UP),
        (2, 1, {"enum": [f"zone {number}" for number in range(600)]}, "the parameters of tools"),
    ],
)
@pytest.mark.parametrize("tool_choice", [ToolChoice.AUTO, ToolChoice.REQUIRED])
def test_however_much_tools_ask_for_a_chat_with_them_is_answered(
    limited, tool_choice, num_tools, num_parameters, of_each, given_up
):
    tools = tools_with(num_tools, num_parameters, **of_each)
    text, found = limited(CHATML).write(ASKED, chat_params=ChatParams(tools=tools, tool_choice=tool_choice))
    assert f"tool_{num_tools - 1}" in found.grammar
    assert ("parameter_0" in found.grammar) == (given_up != "the parameters of tools")
    assert all(name in text for name in of_each)  # the model reads what the grammar gave up
    assert [warning.rpartition(": ")[2] for warning in found.warnings] == [given_up + "."] * bool(given_up)


@pytest.mark.native
@pytest.mark.parametrize("template", sorted(TEMPLATES.glob("*.jinja")), ids=lambda path: path.stem)
def test_parameters_that_no_grammar_holds_can_be_written_all_the_same(limited, template):
    tools = tools_with(2, 1, enum=[f"zone {number}" for number in range(600)])
    _text, found = limited(template.read_text()).write(ASKED, chat_params=ChatParams(tools=tools))
    can_be_written = "parameter_0" in found.grammar or "object" in found.grammar
    assert can_be_written or not (found.grammar or found.triggers)


def test_texts_up_to_a_mark_cost_a_grammar_nothing():
    """The grammar is llama.cpp's of two tools, whose parameters are texts up to a long mark."""
    grammar = (Path(__file__).parent / "calls_in_tags.gbnf").read_text()
    assert not is_costly(grammar, OWN_RULES, max_steps=STEPS_OF_TOOLS)
    assert not fault_of(grammar, OWN_RULES)
