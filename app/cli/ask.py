"""`skein ask`: answers in the terminal, without a window and without Qt.

Several prompts are answered side by side in one context, and printed in the order they were given.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from app.cli import headless
from app.engine.prompts.chat_worker import ChatWorker
from app.engine.prompts.message_reader import AnswerReader
from app.protocol.commands import Submit
from app.protocol.errors import EngineError, RequestError
from app.protocol.grammar import check_grammar
from app.protocol.model import ModelInfo
from app.protocol.output import FinishReason, Output, Usage
from app.protocol.report import StepReport
from app.protocol.request import Message, Overflow, Request, Role
from app.protocol.sampling import SamplingParams

MAX_SIDE_BY_SIDE = 8


def main(argv: Sequence[str]) -> int:
    """Exit code 0 when every prompt was answered, 1 when one was not."""
    options = _parse(argv)
    try:
        sampling = SamplingParams(**_chosen_sampling(options))
        if sampling.grammar:  # nonsense is refused before a large model is loaded
            check_grammar(sampling.grammar)
        return _ask(options)
    except EngineError as error:
        print(f"skein ask: {headless.reason_of(error)}", file=sys.stderr)
        return 1
    except RequestError as error:
        print(f"skein ask: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        return headless.reader_gone()


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="skein ask", description="Answer prompts with a local model, several at the same time."
    )
    parser.add_argument(
        "prompts", nargs="+", type=_prompt, metavar="PROMPT", help="a prompt; - reads it from stdin"
    )
    headless.add_model_options(parser, slots_help="prompts answered at the same time")
    parser.add_argument("--system", default="", metavar="TEXT", help="system prompt for all prompts")
    parser.add_argument(
        "--overflow",
        choices=(Overflow.STOP, Overflow.TRUNCATE_MIDDLE),
        default=Overflow.STOP,
        help="what to do with a prompt that is too long (default: refuse it)",
    )
    parser.add_argument(
        "--max-tokens", type=int, metavar="N", help="maximum tokens per answer (default: as many as fit)"
    )
    parser.add_argument(
        "--temperature", type=float, metavar="T", help="0 picks the most likely token (default: the model's)"
    )
    headless.add_seed_options(parser)
    following = parser.add_mutually_exclusive_group()
    following.add_argument(
        "--grammar", type=headless.text_of, metavar="FILE", help="GBNF grammar that answers must match"
    )
    following.add_argument(
        "--json-schema", type=headless.text_of, metavar="FILE", help="JSON schema that answers must match"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    return parser.parse_args(argv)


def _prompt(text: str) -> str:
    return headless.text_of(text) if text == "-" else text


def _chosen_sampling(options: argparse.Namespace) -> dict[str, Any]:
    names = ("temperature", "seed", "grammar", "json_schema")
    return {name: vars(options)[name] for name in names if vars(options)[name] is not None}


def _request(options: argparse.Namespace, model: ModelInfo, index: int, prompt: str) -> Request:
    system = [Message(Role.SYSTEM, options.system)] if options.system else []
    return Request(
        request_id=f"ask-{index}",
        chat_id=f"ask-{index}",
        messages=(*system, Message(Role.USER, prompt)),
        sampling=replace(model.sampling, **_chosen_sampling(options)),
        max_tokens=options.max_tokens,
        overflow=Overflow(options.overflow),
        keep_cells=False,
    )


def _ask(options: argparse.Namespace) -> int:
    """The loop runs on this thread, and prints as it goes."""
    params = headless.load_params_of(options, MAX_SIDE_BY_SIDE)
    if not options.slots:
        params = replace(params, n_seq_max=min(params.n_seq_max, len(options.prompts)))
    if warning := headless.warning_of(params):
        print(f"skein ask: {warning}", file=sys.stderr)

    def on_reports_ready() -> None:
        answers.apply(loop.take_reports())
        if answers.all_done:
            loop.stop()

    with headless.open_engine(params, lambda _fraction: True, on_reports_ready) as (model, loop):
        prompts = enumerate(options.prompts)
        requests = [_request(options, model, index, prompt) for index, prompt in prompts]
        answers = _Answers(requests, as_json=options.json)
        for request in requests:
            loop.post(Submit(request))
        loop.run()
        answers.close()
    answers.print_statistics()
    return 1 if answers.any_failed else 0


@dataclass(slots=True)
class _Answer:
    request: Request
    text: str = ""
    num_printed: int = 0
    finish_reason: FinishReason | None = None
    notice: str = ""
    usage: Usage = field(default_factory=Usage)
    reader: AnswerReader | None = None  # where a template puts more around JSON than JSON


class _Answers:
    """Collects all answers; the first unfinished one is printed as it comes, the others wait their turn."""

    def __init__(self, requests: Sequence[Request], as_json: bool) -> None:
        self._answers = {request.request_id: _Answer(request) for request in requests}
        self._unprinted = list(self._answers.values())
        self._as_json = as_json
        self._chat_layer = ChatWorker()
        self._num_steps = 0
        self._decode_ms = 0.0

    @property
    def all_done(self) -> bool:
        return not self._unprinted

    @property
    def any_failed(self) -> bool:
        return any(answer.finish_reason is FinishReason.ERROR for answer in self._answers.values())

    def apply(self, reports: Sequence[StepReport]) -> None:
        for report in reports:
            self._num_steps += bool(report.spans)
            self._decode_ms += report.draft_ms + report.decode_ms
            for output in report.outputs:
                self._take(output)
        while self._unprinted:
            self._print(self._unprinted[0])
            if self._unprinted[0].finish_reason is None:
                return
            self._unprinted.pop(0)

    def close(self) -> None:
        self._chat_layer.close()

    def print_statistics(self) -> None:
        for answer in self._answers.values():
            print(_statistics(answer), file=sys.stderr)
        num_tokens = sum(answer.usage.num_generated_tokens for answer in self._answers.values())
        seconds = self._decode_ms / 1000
        rate = num_tokens / seconds if seconds else 0.0
        print(
            f"all: {num_tokens} tokens in {self._num_steps} steps, {seconds:.2f} s, {rate:.1f} tokens/s",
            file=sys.stderr,
        )

    def _take(self, output: Output) -> None:
        answer = self._answers[output.request_id]
        if output.format and answer.request.sampling and answer.request.sampling.json_schema:
            answer.reader = AnswerReader(self._chat_layer, output.format.parser)
        is_last = output.finish_reason is not None
        answer.text += answer.reader.read(output.text, is_last).content if answer.reader else output.text
        answer.usage = output.usage
        answer.finish_reason, answer.notice = output.finish_reason, output.notice

    def _print(self, answer: _Answer) -> None:
        if self._as_json:
            if answer.finish_reason is not None:
                print(_json(answer), flush=True)
            return
        print(answer.text[answer.num_printed :], end="", flush=True)
        answer.num_printed = len(answer.text)
        if answer.finish_reason is not None:
            print(flush=True)


def _statistics(answer: _Answer) -> str:
    usage = answer.usage
    return (
        f"{answer.request.request_id}: {usage.num_prompt_tokens} prompt tokens, "
        f"{usage.num_generated_tokens} generated, {usage.tokens_per_s:.1f} tokens/s, "
        f"first after {usage.time_to_first_token_s:.2f} s, {answer.finish_reason}. {answer.notice}"
    ).rstrip()


def _json(answer: _Answer) -> str:
    return json.dumps(
        {
            "prompt": answer.request.messages[-1].content,
            "text": answer.text,
            "finish_reason": answer.finish_reason,
            "notice": answer.notice,
            "usage": asdict(answer.usage),
        },
        ensure_ascii=False,
    )
