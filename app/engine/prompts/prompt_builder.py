"""Turns a chat into prompt tokens; nothing that a user types becomes a control token.

Any thread. Long runs of one kind of character recurse deeply in llama.cpp's tokenizer, so `EngineLoop`
calls this on a thread with a large stack.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING

from app.engine.media.encoder import cannot
from app.engine.media.rows import Chunk, row_ids, runs_in
from app.engine.prompt import Guide, Prompt
from app.engine.prompts import overflow
from app.engine.prompts.answer_guide import Tokenize, guide_of, shown_tokens
from app.engine.prompts.chat_template import CHATML, ChatMl, LimitedChatTemplate, Template, TemplateInputs
from app.engine.prompts.chat_worker import ChatWorker
from app.engine.prompts.sections import sections_of
from app.engine.prompts.written_answers import (
    KeptPrompts,
    Spliced,
    WrittenTokens,
    indices_of,
    spliced,
    split_at,
)
from app.protocol.answer_format import UNLIMITED, AnswerFormat
from app.protocol.errors import ChatTemplateError, InvalidRequestError, PromptTooLongError, RequestError
from app.protocol.json_object import map_strings, read_object
from app.protocol.request import Message, Overflow, Role
from app.protocol.sampling import shown
from app.system.said import said

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.engine.backend import Backend
    from app.engine.media.rows import MediaPart
    from app.protocol.media import Media
    from app.protocol.request import Request
    from app.protocol.sampling import SamplingParams

# Two code points that Unicode reserves for a program's own use and that no text may contain.
MARK_BEGIN, MARK_END = "\ufdd0", "\ufdd1"
NEXT = f"{MARK_BEGIN}{MARK_END}"  # in the place of a message's content
MARK = re.compile(f"{MARK_BEGIN}([0-9]+){MARK_END}")
MAX_CHARS_PER_TOKEN = 64  # of a context's tokens; a longer text is refused without tokenizing it
# 500,000 characters of one kind in a row pass in a stack of 256 MiB (measured). A run is looked at from its
# beginning only: from each of its characters, one that is just short enough would take a minute.
LONG_RUN = re.compile(r"(?<!\w)\w{200001}|(?<!\s)\s{200001}|(?<![^\w\s])[^\w\s]{200001}")
RUN_TOO_LONG = "The text has over 200,000 letters in a row without a space. Break it up and send again."
TWO_FORMS = said("An answer with tools cannot follow a grammar. Leave one out.")
NOTHING_ASKED = said("The prompt is empty.")
NOTHING_WRITTEN = said(
    "The model's chat template produced an empty prompt. Choose another model for this chat."
)
MAX_CHARS = 1_000_000  # of a text to tokenize outside a prompt: others wait for about half a second
NO_BUDGET = "reasoning_budget has no effect: this model's chat template has no marks around reasoning."
MEDIA_MARKER = "<__media__>"  # as llama.cpp writes it, where a prompt is shown as text
LINE_END = "\n"
# How a message may go on. What its tokens are up to there depends on that for some characters.
ENDINGS = "", "x", " x", "\nx"
BEHIND_DOCUMENTS = "", "\n\nx", "\n\n1"  # what a system prompt may add
BROKEN_END = re.compile("[\ud800-\udfff\ufffd]+$")  # of a text that was cut within a character
MAX_SHORT_CHARS = 1000  # tokenised within a step


class PromptBuilder:
    """Renders the chat template and tokenizes the result.

    Where a message spells out a control token, the template gets a mark instead. The text around the marks is
    tokenized with control tokens, the text they stand for without.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._chat_layer = ChatWorker()
        self._template = _template_of(backend, self._chat_layer)
        texts = backend.control_texts()
        self._control = _ControlTexts(texts) if texts else None
        ends = (backend.written_piece(token).decode("utf-8", "replace") for token in backend.end_tokens)
        self._ends = texts & frozenset(ends)
        self._kept_prompts = KeptPrompts()
        self.written_tokens = WrittenTokens()

    @property
    def template_sources(self) -> tuple[str, str]:
        """The chat template, Jinja, and that for chats with tools, if it is another one."""
        return self._backend.chat_template or CHATML, self._backend.tool_template or ""

    @property
    def edge_texts(self) -> tuple[str, str]:
        """How the model's BOS and EOS are written."""
        return self._backend.bos_text, self._backend.eos_text

    @property
    def takes_tools(self) -> bool:
        """The model's chat template has a place for `tools` among its variables."""
        return "tools" in (self._backend.chat_template or "")

    def build(self, request: Request, num_generated_tokens: int = 0) -> Prompt:
        """The prompt of `request`, which leaves room for an answer. Raises RequestError.

        With `num_generated_tokens` the prompt for an answer that has reached the limit: more of the chat is
        left out, so that prompt, these tokens and at least one more fit. PromptTooLongError: nothing more can
        be. What is shown depends on the arguments alone, so a prompt can be built again at any time.
        """
        return self._built(request, num_generated_tokens)

    def _built(self, request: Request, num_generated_tokens: int = 0, *, has_answer: bool = True) -> Prompt:
        if request.sampling:
            self._chat_layer.check(request.sampling.grammar)
            self._backend.check_sampling(request.sampling)  # too slow for the engine thread
        request = self._with_begun(request)
        start = self._answer_start(request)
        limit = overflow.context_limit(request, self._backend.model)
        room = limit - num_generated_tokens - len(start)
        rest_of_answer = (limit if request.max_tokens is None else request.max_tokens) - num_generated_tokens
        max_tokens = room - max(1, min(rest_of_answer, limit // 4))
        if request.prompt:
            prompt = self._of_pieces(request, max_tokens)
        else:
            prompt = self._of_messages(request, max_tokens, has_answer=has_answer)
        if not prompt.token_ids:  # nothing to compute, so no logits to sample
            raise InvalidRequestError(NOTHING_ASKED) if request.prompt else ChatTemplateError(NOTHING_WRITTEN)
        if len(prompt.token_ids) >= room:
            num_tokens = len(prompt.token_ids) + limit - room
            raise overflow.too_long(num_tokens, request, self._backend.model)
        return replace(prompt, token_ids=(*prompt.token_ids, *start), num_start_tokens=len(start))

    def build_ahead(self, request: Request) -> Prompt:
        """What all prompts begin with whose last message begins as that of `request`. Raises RequestError."""
        if any(message.media for message in request.messages):  # nothing is encoded before it is sent
            raise RequestError(NOTHING_ASKED)
        ways = [
            self._built(replace(request, messages=messages), has_answer=False) for messages in _ways(request)
        ]
        places = zip(*(way.token_ids for way in ways), strict=False)
        token_ids = tuple(tokens[0] for tokens in takewhile(_are_equal, places))
        if not token_ids or ways[0].notice:  # turns that are left out now may not be in the end
            raise RequestError(NOTHING_ASKED)
        return replace(ways[0], token_ids=token_ids)

    def render(self, request: Request) -> str:
        """The whole prompt of `request` as text, without a length limit. Raises RequestError."""
        if request.prompt:
            raise InvalidRequestError("A raw prompt has no messages that a chat template could write.")
        request = self._with_begun(request)
        if refusal := self._refusal(request.messages, request):
            raise refusal
        marked, rendered, _format = self._text_and_format(request.messages, request)
        start = b"".join(map(self._backend.token_piece, self._answer_start(request)))
        return _unmarked(rendered, marked.spelled_out) + start.decode("utf-8", "replace")

    def tokenize(
        self, *pieces: str | int, adds_leading: bool = False, parse_special: bool = True
    ) -> list[int]:
        """Tokens of any text, which may be far longer than a prompt. Raises InvalidRequestError."""
        texts = [piece for piece in pieces if isinstance(piece, str)]
        if sum(map(len, texts)) > MAX_CHARS:
            raise InvalidRequestError(
                said("A message can have at most {limit:,} characters. Send it in parts.", limit=MAX_CHARS)
            )
        if any(LONG_RUN.search(text) for text in texts):
            raise InvalidRequestError(RUN_TOO_LONG)
        return self._joined(pieces, adds_leading, parse_special)

    def written(self, token_ids: Sequence[int]) -> list[bytes]:
        """How each token is written, a control token by its name. Raises InvalidRequestError."""
        return [self._backend.written_piece(self._known(token_id)) for token_id in token_ids]

    @property
    def end_tokens(self) -> frozenset[int]:
        """All that end an answer."""
        return self._backend.end_tokens

    def tokens_behind(self, text: str) -> list[int]:
        """The tokens of a short text after another one; control tokens spelled out in it are recognised."""
        return self._continued(text[:MAX_SHORT_CHARS], parse_special=True)

    def close(self) -> None:
        self._chat_layer.close()

    # The prompt of a chat.

    def _with_begun(self, request: Request) -> Request:
        """Of an answer that the caller has begun, what is thought is told from what is said."""
        chat_params = request.chat_params
        if not chat_params.goes_on:
            return request
        *before, last = request.messages
        last = replace(last, content=BROKEN_END.sub("", last.content))
        fields = read_object(last.fields, "The fields of a message")
        if chat_params.goes_on is True and not fields.get("reasoning_content") and not last.media:
            if not last.content:
                return replace(
                    request, messages=tuple(before), chat_params=replace(chat_params, goes_on=False)
                )
            thought, said = _divided(last.content, *self._thinking_marks)
            if thought is not None:
                written = json.dumps(fields | {"reasoning_content": thought}, ensure_ascii=False)
                last = replace(last, content=said or "", fields=written)
                chat_params = replace(chat_params, goes_on="reasoning_content" if said is None else "content")
        return replace(request, messages=(*before, last), chat_params=chat_params)

    @cached_property
    def _thinking_marks(self) -> tuple[str, str]:
        """Around what the model thinks; empty where the template knows none."""
        try:
            _text, found = self._template.write(TemplateInputs((Message(Role.USER, "?"),)))
        except RequestError:
            return "", ""
        return found.thinking_start.strip(), next(iter(found.thinking_ends), "").strip()

    def _of_messages(self, request: Request, max_tokens: int, *, has_answer: bool) -> Prompt:
        limit = overflow.context_limit(request, self._backend.model)

        @cache
        def tokenize(messages: tuple[Message, ...]) -> tuple[int, ...]:
            marked = self._marked(messages, request)
            return self._tokenized(self._rendered(marked), marked)

        def measure(messages: tuple[Message, ...]) -> int:
            return limit + 1 if self._refusal(messages, request) else len(tokenize(messages))

        shown = self._shown(request, measure, max_tokens)
        if refusal := self._refusal(shown, request):
            raise refusal
        notice = overflow.left_out(request.messages, shown, request.overflow)
        num_dropped = len(request.messages) - len(shown)
        if not has_answer:
            return Prompt(tokenize(shown), shown, num_dropped, notice)
        return replace(
            self._written(shown, request), messages=shown, num_dropped_messages=num_dropped, notice=notice
        )

    def _shown(self, request: Request, measure: overflow.Measure, max_tokens: int) -> tuple[Message, ...]:
        """The shown part of the chat, in at most `max_tokens` if possible."""
        match request.overflow:
            case Overflow.STOP | Overflow.SUM_UP:
                return request.messages
            case Overflow.ROLLING_WINDOW:
                return overflow.rolling_window(request.messages, measure, max_tokens)
            case Overflow.TRUNCATE_MIDDLE:
                return overflow.truncate_middle(
                    request.messages,
                    measure,
                    self._num_tokens,
                    max_tokens,
                    # Of the limit, not of `max_tokens`: the cut must not move while an answer grows.
                    overflow.context_limit(request, self._backend.model) // 3,
                )

    def _marked(self, messages: Sequence[Message], request: Request) -> _Marked:
        """What the template is given, with marks."""
        spelled_out: list[str] = []
        written: dict[int, int] = {}

        def mark(text: str) -> str:
            return self._mark(text, spelled_out)

        media: dict[int, Media] = {}

        def mark_media(one: Media) -> str:
            media[len(spelled_out)] = one
            spelled_out.append(MEDIA_MARKER)
            return f"{MARK_BEGIN}{len(spelled_out) - 1}{MARK_END}"

        def mark_content(message: Message) -> str:
            places = [0, *(one.at for one in message.media), len(message.content)]
            pieces = [mark(message.content[start:end]) for start, end in pairwise(places)]
            marks = [mark_media(one) for one in message.media]
            return pieces[0] + "".join(map("".join, zip(marks, pieces[1:], strict=True)))

        def mark_message(index: int, message: Message) -> Message:
            content, fields = mark_content(message), mark_json(message.fields)
            if message.written:
                written[index] = len(spelled_out)
                spelled_out.append(message.written)
            return replace(message, content=content, fields=fields)

        def mark_json(text: str) -> str:
            changed = map_strings(read_object(text, "JSON"), mark)
            return json.dumps(changed, ensure_ascii=False, separators=(",", ":")) if text else ""

        marked = tuple(mark_message(index, message) for index, message in enumerate(messages))
        variables = request.template_variables
        if request.chat_params.tools:  # as the model reads them; its calls are read with their real names
            given = read_object(variables, "template_variables")
            variables = json.dumps(
                given | {"tools": json.loads(request.chat_params.tools)}, ensure_ascii=False
            )
        inputs = TemplateInputs(marked, mark_json(variables), request.chat_params)
        return _Marked(inputs, spelled_out, written, media)

    def _rendered(self, marked: _Marked) -> str:
        """The template's text with marks."""
        return self._with_written(marked, self._plain(marked.inputs))

    def _plain(self, inputs: TemplateInputs) -> str:
        rendered = self._template.render(inputs)
        self._check_rendered(rendered)
        return rendered

    def _with_written(self, marked: _Marked, plain: str) -> str:
        """Puts answers as they were written in their places, and notes in `marked` what counts in them."""
        indices = indices_of(marked.inputs.messages)
        if not (indices and self._ends):
            return self._with_known_tokens(marked, plain)
        try:
            found = self._spliced(marked, plain, indices)
        except ChatTemplateError:  # it takes the whole chat, and not its beginning
            return self._with_known_tokens(marked, plain)
        marked.counting.update(found.counting)
        return self._with_known_tokens(marked, found.text)

    def _with_known_tokens(self, marked: _Marked, text: str) -> str:
        """Puts marks in the place of answers that the template repeats, and whose tokens are known."""
        ends = [end for end in self._ends if end in text]
        pieces: list[str] = []
        done = at = 0
        for message in marked.inputs.messages:  # also questions: one may say the same as an answer behind it
            content = message.content
            start = min((found for end in ends if (found := text.find(content + end, at)) >= 0), default=-1)
            if start < 0 or not content:
                continue
            at = start + len(content)
            if message.role is Role.ASSISTANT and self.written_tokens.get(content):
                number = len(marked.spelled_out)
                marked.spelled_out.append(content)
                marked.counting[number] = frozenset()
                pieces += text[done:start], f"{MARK_BEGIN}{number}{MARK_END}"
                done = at
        return "".join((*pieces, text[done:]))

    def _spliced(self, marked: _Marked, plain: str, indices: list[int]) -> Spliced:
        """From the longest beginning that is known already."""
        messages = marked.inputs.messages
        *prompts, whole = (
            (replace(marked.inputs, messages=messages[:index]), index) for index in (*indices, len(messages))
        )
        known = len(prompts) - 1
        while known > 0 and self._kept_prompts.get(prompts[known][0]) is None:
            known -= 1
        key, index = prompts[known]
        found = self._kept_prompts.get(key)
        if found is None:
            first = self._plain(key)
            found = Spliced(first, first)
            self._kept_prompts.put(key, found)
        for key, following in (*prompts[known + 1 :], whole):
            text = plain if key is whole[0] else self._plain(key)
            number = marked.written[index]
            mark = number, f"{MARK_BEGIN}{number}{MARK_END}"
            found = spliced(
                *(found, messages[index], mark, text, self._to_next(marked, index)),
                *(self._ends, self._controls_in),
            )
            self._kept_prompts.put(key, found)
            index = following
        return found

    def _to_next(self, marked: _Marked, index: int) -> str:
        """The prompt up to the content of the message behind number `index`. Empty: it cannot be told."""
        messages = marked.inputs.messages[: index + 2]
        following = (*messages[:-1], replace(messages[-1], content=NEXT))
        try:
            text = self._plain(replace(marked.inputs, messages=following))
        except ChatTemplateError:  # it looks into what it is given
            return ""
        return text.partition(NEXT)[0] if NEXT in text else ""

    def _written(self, messages: tuple[Message, ...], request: Request) -> Prompt:
        """The prompt with these messages, and what an answer to it must follow."""
        sampling = self._sampling(request)
        if sampling.grammar and request.chat_params.offers_tools:
            raise InvalidRequestError(TWO_FORMS)
        marked, text, found = self._text_and_format(messages, request)
        has_own_grammar = bool(found.grammar)
        if sampling.json_schema and not has_own_grammar:
            schema = self._chat_layer.format_of(sampling.json_schema)
            found = replace(found, grammar=schema.grammar, warnings=schema.warnings)
        if sampling.grammar:
            found, has_own_grammar = replace(found, grammar=sampling.grammar, triggers=()), False
        opening = self._tokens_at_marks(found.opening, marked, self._in_prompt)
        guide = guide_of(found, request.chat_params, opening, self._in_prompt, is_in_grammar=has_own_grammar)
        if request.chat_params.reasoning_budget != UNLIMITED and not guide.reasoning:
            found = replace(found, warnings=(*found.warnings, NO_BUDGET))
        token_ids = self._tokenized(text, marked)
        return Prompt(
            token_ids,
            chunks=self._chunks(text, marked, token_ids),
            format=replace(found, parser=_without_marks(found.parser, marked.spelled_out)),
            guide=guide,
            shown_tokens=shown_tokens(found, self._backend),
            sections=sections_of(_unmarked(text, marked.spelled_out), messages, request.chat_params),
        )

    def _text_and_format(
        self, messages: tuple[Message, ...], request: Request
    ) -> tuple[_Marked, str, AnswerFormat]:
        """The prompt with marks, and how an answer to it is written."""
        marked = self._marked(messages, request)
        schema = self._sampling(request).json_schema
        text, found = self._template.write(replace(marked.inputs, json_schema=schema))
        self._check_rendered(text)
        return marked, self._with_written(marked, text), found

    def _sampling(self, request: Request) -> SamplingParams:
        return request.sampling or self._backend.model.sampling

    def _tokenized(self, rendered: str, marked: _Marked) -> tuple[int, ...]:
        tokens = self._tokens_at_marks(
            rendered, marked, lambda piece: self._backend.tokenize(piece, parse_special=True)
        )
        return tuple(self._with_leading(tokens))

    def _tokens_at_marks(self, text: str, marked: _Marked, tokenize: Tokenize) -> list[int]:
        tokens: list[int] = []
        for index, piece in enumerate(MARK.split(text)):
            if index % 2 == 0:
                tokens += tokenize(piece) if piece else ()
            elif int(piece) in marked.media:
                tokens += self._of_media(marked.media[int(piece)])
            elif int(piece) in marked.counting:
                tokens += self._of_written(marked.spelled_out[int(piece)], marked.counting[int(piece)])
            else:
                tokens += self._backend.tokenize(marked.spelled_out[int(piece)], parse_special=False)
        return tokens

    # Pictures and sounds.

    def num_media_tokens(self, media: Media) -> int:
        """How many tokens of a prompt it takes. Raises RequestError."""
        return len(self._of_media(media))

    def _of_media(self, media: Media) -> list[int]:
        tokens: list[int] = []
        parts = self._layout(media)
        projector = self._backend.media_encoder.fingerprint if self._backend.media_encoder else ""
        for index, part in _numbered(parts):
            tokens += part.tokens or row_ids(media, index, part, projector)
        return tokens

    def _layout(self, media: Media) -> tuple[MediaPart, ...]:
        encoder, model = self._backend.media_encoder, self._backend.model
        if encoder is None:
            raise InvalidRequestError(model.senses.reason or cannot(media.kind))
        parts = encoder.layout(media)
        most = max((part.num_rows for part in parts if part.is_whole), default=0)
        if most > min(model.n_ubatch, model.n_batch):
            raise InvalidRequestError(
                said(
                    "This model computes a picture in one step of {rows:,} rows, but its micro-batch "
                    "holds only {most:,}. Reload it with a larger one (n_ubatch).",
                    rows=most,
                    most=min(model.n_ubatch, model.n_batch),
                )
            )
        return parts

    def _chunks(self, text: str, marked: _Marked, token_ids: Sequence[int]) -> tuple[Chunk, ...]:
        """Where the rows of pictures and sounds are among these tokens of `text`."""
        if not marked.media:
            return ()
        marks = [int(mark) for mark in MARK.findall(text) if int(mark) in marked.media]
        if set(marks) != marked.media.keys():
            raise ChatTemplateError(
                said("The model's chat template has no place for this picture or sound. Send text only.")
            )
        encoded = [
            (marked.media[mark], index, part)
            for mark in marks
            for index, part in _numbered(self._layout(marked.media[mark]))
            if part.num_rows
        ]
        return tuple(Chunk(run.first, *one) for run, one in zip(runs_in(token_ids), encoded, strict=True))

    def _of_written(self, text: str, counting: Collection[str] = ()) -> list[int]:
        """The tokens of an answer: those that the model wrote, if that is remembered."""
        known = self.written_tokens.get(text)
        if known is not None:
            return known
        return [
            token
            for index, piece in enumerate(split_at(counting, text))
            if piece
            for token in self._continued(piece, parse_special=index % 2 == 1)
        ]

    def _in_prompt(self, text: str) -> list[int]:
        """The tokens of a text in which control tokens count, and which is not at its beginning."""
        return self._continued(text, parse_special=True) if text else []

    def _with_leading(self, tokens: list[int]) -> list[int]:
        leading = self._backend.leading_tokens()
        return tokens if tokens[: len(leading)] == leading else leading + tokens

    def _check_rendered(self, text: str) -> None:
        """Checks the text, since a template can write anything."""
        num_chars = 2 * self._backend.model.max_sequence_tokens * MAX_CHARS_PER_TOKEN
        if len(text) > num_chars or LONG_RUN.search(text):
            raise ChatTemplateError(
                said("The model's chat template produces far more text than the context can hold.")
            )

    def _refusal(self, messages: tuple[Message, ...], request: Request) -> RequestError | None:
        """Why these messages must not be tokenized; None if they may."""
        limit = overflow.context_limit(request, self._backend.model)
        texts = [part for one in messages for part in (one.content, one.fields, one.written)]
        num_chars = sum(map(len, texts))
        # Each message has at least one token; to render so many would take seconds.
        if len(messages) > limit or num_chars > limit * MAX_CHARS_PER_TOKEN:
            num_tokens = overflow.estimated_tokens(messages, self._num_tokens)
            return self._too_long(num_chars, num_tokens, request)
        return self._refusal_of(texts, request)

    def _too_long(self, num_chars: int, num_tokens: int, request: Request) -> PromptTooLongError:
        limit = overflow.context_limit(request, self._backend.model)
        if num_tokens > limit:
            return overflow.too_long(num_tokens, request, self._backend.model, is_estimate=True)
        reason = said(
            "This chat has {chars:,} characters, too many for a context of {limit:,} tokens: "
            "shorten the text.",
            chars=num_chars,
            limit=limit,
        )
        return PromptTooLongError(reason, num_tokens)

    def _num_tokens(self, text: str) -> int:
        return len(self._backend.tokenize(text, parse_special=False))

    def _refusal_of(self, texts: list[str], request: Request) -> RequestError | None:
        limit = overflow.context_limit(request, self._backend.model)
        num_chars = sum(map(len, texts))
        if num_chars > limit * MAX_CHARS_PER_TOKEN:
            num_tokens = overflow.about_tokens("".join(texts), self._num_tokens)
            return self._too_long(num_chars, num_tokens, request)
        if any(LONG_RUN.search(text) for text in texts):
            return InvalidRequestError(RUN_TOO_LONG)
        return None

    # A prompt that is no chat, and the beginning of an answer.

    def _of_pieces(self, request: Request, max_tokens: int) -> Prompt:
        self._check_texts([piece for piece in request.prompt if isinstance(piece, str)], request)
        tokens = self._joined(request.prompt, adds_leading=True, parse_special=True)
        leading = self._backend.leading_tokens()
        num_leading = len(leading) if tokens[: len(leading)] == leading else 0
        kept = overflow.cut_tokens(tokens, num_leading, request.overflow, max_tokens)
        notice = overflow.tokens_left_out(len(tokens) - len(kept), request.overflow)
        sampling = self._sampling(request)
        found = AnswerFormat(grammar=sampling.grammar)
        if sampling.json_schema:
            found = self._chat_layer.format_of(sampling.json_schema)
        return Prompt(tuple(kept), notice=notice, format=found, guide=Guide(found.grammar))

    def _joined(self, pieces: Sequence[str | int], adds_leading: bool, parse_special: bool) -> list[int]:
        tokens: list[int] = []
        for index, piece in enumerate(pieces):
            if isinstance(piece, str):
                written = self._backend.tokenize(piece, parse_special=parse_special)
                tokens += self._with_leading(written) if adds_leading and index == 0 else written
            else:
                tokens.append(self._known(piece))
        return tokens

    def _answer_start(self, request: Request) -> list[int]:
        start = request.answer_start
        if not isinstance(start, str):
            return [self._known(token) for token in start]
        self._check_texts([start], request)
        return self._of_written(start) if start else []

    def _continued(self, text: str, *, parse_special: bool = False) -> list[int]:
        """Tokens of a text behind another. Some tokenizers put a space before every text they are given."""
        tokens = self._backend.tokenize(text, parse_special=parse_special)
        if b"".join(map(self._backend.token_piece, tokens)) != b" " + text.encode("utf-8", "replace"):
            return tokens
        before = self._backend.tokenize(LINE_END, parse_special=False)
        both = self._backend.tokenize(LINE_END + text, parse_special=parse_special)
        return both[len(before) :] if both[: len(before)] == before else tokens

    def _check_texts(self, texts: list[str], request: Request) -> None:
        if refusal := self._refusal_of(texts, request):
            raise refusal

    def _known(self, token_id: object) -> int:
        """`token_id`, if the model has it: llama.cpp would end the process for any other."""
        n_vocab = self._backend.model.n_vocab
        if isinstance(token_id, bool) or not isinstance(token_id, int) or not 0 <= token_id < n_vocab:
            raise InvalidRequestError(
                f"{shown(token_id)} is no token of this model, which has the ids 0 to {n_vocab - 1:,}."
            )
        return token_id

    # Control tokens that are spelled out in a message.

    def _controls_in(self, text: str) -> set[str]:
        found: set[str] = set()

        def note(control: str) -> str:
            found.add(control)
            return control

        if self._control:
            self._control.sub(note, text)
        return found

    def _mark(self, content: str, spelled_out: list[str]) -> str:
        """`content` with a mark for each control token written out in it, which goes to `spelled_out`."""
        content = content.replace(MARK_BEGIN, "\ufffd").replace(MARK_END, "\ufffd")
        if self._control is None:
            return content

        def mark(text: str) -> str:
            spelled_out.append(text)
            return f"{MARK_BEGIN}{len(spelled_out) - 1}{MARK_END}"

        return self._control.sub(mark, content)


class _ControlTexts:
    """Finds them in a text, at each place the longest.

    A pattern of them all would try one after the other at each place, and a file may name 150,000.
    """

    def __init__(self, texts: Collection[str]) -> None:
        self._texts = frozenset(texts)
        lengths: dict[str, set[int]] = defaultdict(set)
        for text in texts:
            lengths[text[0]].add(len(text))
        self._lengths = {first: sorted(of_first, reverse=True) for first, of_first in lengths.items()}
        self._first = re.compile(f"[{re.escape(''.join(lengths))}]")

    def sub(self, replace: Callable[[str], str], content: str) -> str:
        parts: list[str] = []
        end = at = 0
        while found := self._first.search(content, at):
            at = found.start()
            for length in self._lengths[found[0]]:
                text = content[at : at + length]
                if text in self._texts:
                    parts += content[end:at], replace(text)
                    at = end = at + length
                    break
            else:
                at += 1
        return "".join((*parts, content[end:]))


@dataclass(frozen=True, slots=True)
class _Marked:
    inputs: TemplateInputs
    spelled_out: list[str]  # what the marks stand for
    written: Mapping[int, int]  # by message: the mark that stands for all of it, as its model wrote it
    media: Mapping[int, Media]  # by mark: the picture or sound that it stands for
    counting: dict[int, frozenset[str]] = field(default_factory=dict)  # by such marks; see `Spliced`


def _template_of(backend: Backend, chat_layer: ChatWorker) -> Template:
    edges = backend.bos_text, backend.eos_text
    if backend.chat_template is None:
        return ChatMl(*edges, chat_layer)
    chat_layer.start()  # so that the first chat does not wait for it
    return LimitedChatTemplate(
        backend.chat_template, *edges, tool_source=backend.tool_template or "", chat_layer=chat_layer
    )


def _divided(begun: str, start: str, end: str) -> tuple[str | None, str | None]:
    """What is thought in the beginning of an answer, and what is said. None: that has not begun.

    Some templates write `start` themselves, so that their models' answers come without it.
    """
    text = begun.lstrip()
    if not start or not (text.startswith(start) or (end in text and start not in text)):
        return None, begun
    thought, mark, said = text.removeprefix(start).partition(end)
    return (thought.strip(LINE_END), said.lstrip(LINE_END)) if mark else (thought.lstrip(LINE_END), None)


def _without_marks(parser: str, spelled_out: list[str]) -> str:
    """A parser begins to read at the end of the prompt, where the beginning of an answer may be."""
    if MARK_BEGIN not in parser:
        return parser
    return MARK.sub(lambda mark: json.dumps(spelled_out[int(mark[1])], ensure_ascii=False)[1:-1], parser)


def _ways(request: Request) -> Iterator[tuple[Message, ...]]:
    """How its messages may go on: behind the last one, or behind a shelf's documents."""
    if request.is_beginning:
        documents, *rest = request.messages
        for ending in BEHIND_DOCUMENTS:
            yield (replace(documents, content=documents.content + ending), *rest)
        return
    *before, last = request.messages
    for ending in ENDINGS:
        yield (*before, replace(last, content=last.content + ending))


def _numbered(parts: Sequence[MediaPart]) -> Iterator[tuple[int, MediaPart]]:
    """Each part with the number of encoded ones before it."""
    index = 0
    for part in parts:
        yield index, part
        index += part.num_rows > 0


def _are_equal(tokens: tuple[int, ...]) -> bool:
    return len(set(tokens)) == 1


def _unmarked(text: str, spelled_out: list[str]) -> str:
    return "".join(piece for piece, _parse_special in _split_at_marks(text, spelled_out))


def _split_at_marks(text: str, spelled_out: list[str]) -> Iterator[tuple[str, bool]]:
    """Pieces of `text` in order, each with whether control tokens count in it."""
    for index, piece in enumerate(MARK.split(text)):
        if index % 2:
            yield spelled_out[int(piece)], False
        elif piece:
            yield piece, True
