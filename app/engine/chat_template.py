"""Renders a chat to prompt text with the Jinja2 template in the model file.

A template is untrusted code. It runs in Jinja's sandbox, and in a child process with limits on time and
memory, because the sandbox stops neither an endless loop nor a 10 GB string.
"""

from __future__ import annotations

import contextlib
import json
import signal
import sys
import threading
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NoReturn

from app.protocol.errors import ChatTemplateError, RequestError
from app.protocol.json_object import read_object
from app.protocol.request import Message, Role
from app.system import child_process
from app.system.said import packed, said, unpacked

if TYPE_CHECKING:
    from jinja2 import Template

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
MAX_CPU_S = 2
MAX_MEMORY_BYTES = 512 << 20
MAX_WALL_S = 30.0  # a busy machine may take long over two seconds of work
MAX_PROMPT_BYTES = 32 << 20  # far above what any context holds
MAX_SOURCE_CHARS = 1 << 20  # the longest take some 20,000
MAX_REASON_CHARS = 500


class ChatTemplate:
    """A compiled template. Any thread; no limits, so only for our own templates."""

    def __init__(self, source: str, bos_text: str = "", eos_text: str = "") -> None:
        self._template = _compile(source)
        self._variables = {"bos_token": bos_text, "eos_token": eos_text, "add_generation_prompt": True}

    def render(self, messages: Sequence[Message], variables: str = "") -> str:
        """The prompt up to where the answer begins. Raises ChatTemplateError.

        `variables` is a JSON object of further template variables.
        """
        given = read_object(variables, "template_variables")
        try:
            known = self._variables | _names_of_families(given.get("tools"))
            return self._template.render(known | given, messages=[_turn(message) for message in messages])
        except Exception as error:  # untrusted code may raise anything
            raise ChatTemplateError(
                said("The model's chat template failed: {reason}", reason=_reason(error))
            ) from error

    def close(self) -> None:
        """Nothing to free."""


class LimitedChatTemplate:
    """A template from a model file, rendered in a child process. Any thread, one at a time.

    The child is started at once, since starting takes longer than rendering, and again after it was killed.
    """

    def __init__(self, source: str, bos_text: str = "", eos_text: str = "") -> None:
        if len(source) > MAX_SOURCE_CHARS:
            source = f"{{{{ raise_exception('it has more than {MAX_SOURCE_CHARS:,} characters') }}}}"
        self._arguments = [source, bos_text, eos_text]
        self._lock = threading.Lock()
        self._child = self._start()

    def render(self, messages: Sequence[Message], variables: str = "") -> str:
        """As `ChatTemplate.render`, up to a length that is far above what any context holds."""
        turns = [[message.role, message.content, message.fields] for message in messages]
        with self._lock:
            if self._child.poll() is not None:
                self._child = self._start()
            return self._ask([turns, variables])

    def close(self) -> None:
        """Also aborts a rendering under way."""
        self._child.kill()
        with self._lock:
            child_process.reap(self._child)

    def _start(self) -> child_process.Child:
        child = child_process.start(__name__)
        with contextlib.suppress(OSError):
            child_process.send(child.stdin, self._arguments)
        return child

    def _ask(self, question: object) -> str:
        timer = threading.Timer(MAX_WALL_S, self._child.kill)
        timer.start()
        try:
            child_process.send(self._child.stdin, question)
            return self._receive()
        except (EOFError, OSError):  # the child was killed at one of its limits
            child_process.reap(self._child)
            raise ChatTemplateError(
                said(
                    "The model's chat template took more than {seconds} seconds or {size} MiB. Try "
                    "another GGUF of this model.",
                    seconds=MAX_CPU_S,
                    size=MAX_MEMORY_BYTES >> 20,
                )
            ) from None
        finally:
            timer.cancel()

    def _receive(self) -> str:
        reply = child_process.receive(self._child.stdout)
        if "error" in reply:
            raise ChatTemplateError(unpacked(reply["error"]))
        assert self._child.stdout is not None
        text = self._child.stdout.read(reply["num_bytes"])
        if len(text) < reply["num_bytes"]:
            raise EOFError
        return text.decode("utf-8", "surrogatepass")


def _compile(source: str) -> Template:
    from jinja2 import TemplateError
    from jinja2.ext import loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols], autoescape=False
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _raise_exception
    environment.globals["strftime_now"] = lambda pattern: datetime.now().astimezone().strftime(pattern)
    try:
        return environment.from_string(source)
    except (TemplateError, RecursionError) as error:
        raise ChatTemplateError(
            said("The model's chat template cannot be read: {reason}", reason=_reason(error))
        ) from error


def _names_of_families(tools: Any) -> dict[str, str]:
    """Variables with family-specific names: the date for Llama 3 and FireFunction, the tools for
    FireFunction.

    Without them Llama 3 takes a day of 2024 for today, and FireFunction's template fails. A time of day would
    change the prompt with every turn.
    """
    now = datetime.now().astimezone()
    functions = [tool.get("function", tool) if isinstance(tool, dict) else tool for tool in tools or []]
    return {
        "date_string": now.strftime("%d %b %Y"),
        "datetime": now.strftime("%b %d %Y"),
        "functions": _to_json(functions, indent=4) if functions else "",
    }


def _turn(message: Message) -> dict[str, Any]:
    fields = read_object(message.fields, "The fields of a message")
    return {"role": message.role.value, "content": message.content, **fields}


def _to_json(value: Any, indent: int | None = None) -> str:
    """As in Hugging Face transformers: Jinja's own filter would escape for HTML."""
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _raise_exception(message: str) -> NoReturn:
    """Templates call this to refuse a chat, such as one that begins with the assistant."""
    raise ChatTemplateError(message)


def _reason(error: Exception) -> str:
    """A stranger's words, or words about a stranger's names: nobody reads a megabyte of them."""
    reason = str(error)
    return reason if len(reason) <= MAX_REASON_CHARS else f"{reason[:MAX_REASON_CHARS]}…"


def _serve() -> None:
    """The child's loop: one reply to each request, until the pipe is closed or a limit is hit."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in a terminal is for the parent
    _limit_memory()
    with contextlib.suppress(EOFError, OSError):
        arguments = child_process.receive(sys.stdin.buffer)
        template: ChatTemplate | None = None
        while True:
            turns, variables = child_process.receive(sys.stdin.buffer)
            _limit_cpu()
            try:
                messages = [Message(Role(role), content, fields) for role, content, fields in turns]
                template = template or ChatTemplate(*arguments)
                _reply(template.render(messages, variables).encode("utf-8", "surrogatepass"))
            except RequestError as error:
                child_process.send(sys.stdout.buffer, {"error": packed(str(error))})


def _reply(text: bytes) -> None:
    """As it is: to take it out of JSON would stop all threads of the parent for long."""
    if len(text) > MAX_PROMPT_BYTES:
        raise ChatTemplateError(
            said(
                "The model's chat template produced more than {size} MiB. Try another GGUF of this model.",
                size=MAX_PROMPT_BYTES >> 20,
            )
        )
    child_process.send(sys.stdout.buffer, {"num_bytes": len(text)})
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()


def _limit_memory() -> None:
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_cpu() -> None:
    """Two more seconds from here on, then SIGXCPU ends the process."""
    if sys.platform != "win32":
        import math
        import resource

        used: Any = resource.getrusage(resource.RUSAGE_SELF)
        limit = math.ceil(used.ru_utime + used.ru_stime) + MAX_CPU_S
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, hard))


if __name__ == "__main__":
    _serve()
