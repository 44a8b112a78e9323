"""Pictures beside running answers, step by step, with an encoder that ends when it is told to."""

from dataclasses import replace
from hashlib import sha256
from itertools import pairwise

from app.engine.engine import Engine
from app.protocol.media import Media, MediaKind
from app.protocol.output import FinishReason
from app.protocol.report import WaitReason
from app.protocol.request import Message, Role
from tests.driver import request, run
from tests.fake_media_encoder import FakeMediaEncoder
from tests.fakes import CountingBackend, endless_token

ROWS = 24


def picture(name: str = "a") -> Media:
    file = name.encode()
    return Media(MediaKind.PICTURE, sha256(file).hexdigest(), file, 10, 10)


def about(media: Media, chat: str | None = None, **options: object):
    one = request("", chat, **options)
    return replace(one, messages=(Message(Role.USER, "What is it?", media=(media,)),))


def engine_with(encoder: FakeMediaEncoder, **model: object) -> Engine:
    backend = CountingBackend(endless_token, **({"n_ctx": 2048, "n_batch": 128, "n_seq_max": 4} | model))
    backend.media_encoder = encoder
    backend.model = replace(backend.model, senses=encoder.senses)
    return Engine(backend)


def test_who_waits_for_an_encoding_has_no_slot_and_others_go_on():
    engine = engine_with(encoder := FakeMediaEncoder(ROWS, holds=True))
    engine.add_request(seeing := about(picture()))
    engine.add_request(request("a story", max_tokens=4))
    reports = [engine.step() for _ in range(6)]
    (waiting,) = reports[-1].waiting
    assert (waiting.request_id, waiting.reason) == (seeing.request_id, WaitReason.ENCODING)
    encoder.num_rows = 2
    (encoding,) = engine.report().encodings
    assert (encoding.num_done, encoding.num_total) == (2, ROWS)
    assert not engine.has_work  # until the encoding ends
    encoder.finish()
    assert engine.has_work
    assert run(engine).answers[seeing.request_id].finish_reason is FinishReason.LENGTH


def test_an_encoding_that_nobody_waits_for_is_cancelled():
    engine = engine_with(encoder := FakeMediaEncoder(ROWS, holds=True))
    first, second = about(picture()), about(picture())
    engine.add_request(first)
    engine.add_request(second)
    engine.step()
    engine.abort(first.request_id)
    assert not encoder.cancelled
    engine.abort(second.request_id)
    assert encoder.cancelled == [picture()]


def test_after_each_step_of_a_picture_answers_have_one_without_prompts():
    engine = engine_with(FakeMediaEncoder(ROWS * 4), n_ubatch=16)
    engine.add_request(request("a story", max_tokens=200))
    for _ in range(3):
        engine.step()
    engine.add_request(about(picture(), max_tokens=1))
    engine.add_request(request("a long text " * 30, max_tokens=1))
    kinds = []
    for _ in range(40):
        spans = engine.step().spans
        tokens = [token for span in spans for token in span.token_ids]
        if any(token < -1 for token in tokens):
            assert len(spans) == 1
            kinds.append("picture")
        else:
            kinds.append("prompt" if any(span.is_prefill for span in spans) else "answers")
    first, last = kinds.index("picture"), len(kinds) - kinds[::-1].index("picture")
    during = kinds[first : last + 1]
    assert during.count("picture") > 3
    assert {after for before, after in pairwise(during) if before == "picture"} == {"answers"}
    assert "prompt" in during


def test_a_picture_whose_rows_see_each_other_is_computed_in_one_step():
    engine = engine_with(FakeMediaEncoder(ROWS, is_whole=True), n_ubatch=32)
    engine.add_request(request("a story", max_tokens=50))
    for _ in range(3):
        engine.step()
    result = run(engine, about(picture(), max_tokens=2))
    spans = [span for report in result.reports for span in report.spans if span.token_ids[0] < -1]
    assert [span.num_rows for span in spans] == [ROWS]


def test_a_picture_that_must_be_whole_and_is_too_large_for_a_step_is_refused():
    engine = engine_with(FakeMediaEncoder(ROWS, is_whole=True), n_ubatch=16)
    one = about(picture())
    answer = run(engine, one).answers[one.request_id]
    assert answer.finish_reason is FinishReason.ERROR
    assert "n_ubatch" in answer.notice


def test_the_same_picture_in_another_chat_shares_its_cells():
    engine = engine_with(FakeMediaEncoder(ROWS))
    run(engine, about(picture(), "a", max_tokens=2))
    second = about(picture(), "b", max_tokens=2)
    usage = run(engine, second).answers[second.request_id].usage
    assert usage.num_shared_tokens > ROWS
    span = engine.report().slots[1].media[0]
    assert (span.num_cells, span.num_positions, span.sha256) == (ROWS, ROWS, picture().sha256)
