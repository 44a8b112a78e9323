from pathlib import Path

from app.models.memory_fit import Fit, fit_of
from app.models.recommended import RECOMMENDED, largest_that_fits, need_bytes
from app.protocol.media import Senses
from app.services.model_state import ModelState
from app.system import paths
from app.ui.transcript.greeting import (
    NO_BREAK_SPACE,
    PROMPTS,
    STARTER_PROMPTS,
    Primary,
    fact_texts,
    greeting,
    sizes_text,
)
from tests.fakes import model_info

GIB = 2**30
STARTER = ModelState(model_info(name="Skein starter", path=paths.starter_model(), n_params=2_509_504))


def test_the_starter_says_what_it_cannot_do_and_offers_a_real_model() -> None:
    shown = greeting(STARTER, 8 * GIB)
    assert shown.title == "Skein starter"
    assert "only" not in shown.title
    assert "small demonstration" in shown.words
    assert "cannot" in shown.words
    assert (shown.primary, shown.label) == (Primary.GET_MODEL, "Get a real model")
    assert "Qwen3 8B" in shown.caption
    assert "drop a GGUF file here" in shown.caption
    assert shown.prompts == STARTER_PROMPTS


def test_the_sizes_named_are_those_that_fit_this_machine() -> None:
    for gib in range(1, 64):
        largest = largest_that_fits(gib * GIB)
        needs = [(one, need_bytes(one.approximate_bytes)) for one in RECOMMENDED]
        fitting = [one for one, need in needs if fit_of(need, gib * GIB) is Fit.FITS]
        assert (largest is None) == (not fitting)
        assert largest is None or largest.approximate_bytes == max(one.approximate_bytes for one in fitting)
        assert largest is None or largest.name in sizes_text(gib * GIB)
    assert sizes_text(0) == "From 610 MiB, or drop a GGUF file here"


def test_a_real_model_names_what_it_can_and_offers_what_it_can_answer() -> None:
    model = model_info(n_params=4_022_468_096, n_ctx=8192, n_ctx_train=32_768, takes_tools=True, thinks=True)
    shown = greeting(ModelState(model))
    assert shown.facts.replace(NO_BREAK_SPACE, " ") == (
        "4.0B parameters · 8,192 tokens of context · text only, no pictures or sound · "
        "thinks before it answers · can call tools"
    )
    assert shown.prompts == PROMPTS
    assert shown.primary is Primary.NOTHING
    assert fact_texts(model_info(is_same_alone=True))[-1] == "same answers beside other chats"
    assert fact_texts(model_info(n_ctx=2048)) == (
        "2,048 tokens of context", "text only, no pictures or sound", "not made to call tools",
    )  # fmt: skip


def test_what_a_server_does_not_tell_of_its_model_is_not_made_up() -> None:
    told = Senses(sees=True, is_told=False)
    model = model_info(server="http://gpu-box:8000", n_seq_max=0, n_ctx=0, senses=told)
    assert fact_texts(model) == ("context not told by this server",)
    assert greeting(ModelState(model)).title.startswith("fake · gpu-box:8000")


def test_a_base_model_says_so_and_offers_a_notebook() -> None:
    shown = greeting(ModelState(model_info(name="Gemma 3 270m", has_template=False)))
    assert shown.words == "Gemma 3 270m is a base model without a chat template: it continues text."
    assert shown.primary is Primary.NOTEBOOK
    assert shown.prompts == ()


def test_without_a_model_it_says_what_becomes_of_a_message() -> None:
    loading = greeting(ModelState(loading=Path("/m/big.gguf")))
    assert loading.title == "Loading big…"
    assert "once it is loaded" in loading.words
    assert loading.primary is Primary.NOTHING
    assert greeting(ModelState()).primary is Primary.GET_MODEL


def test_a_model_elsewhere_that_was_not_asked_yet_says_where_it_runs() -> None:
    shown = greeting(ModelState(absent=Path("qwen"), host="gpu-box:8000"))
    assert shown.title == "qwen"
    assert shown.words == "Runs on gpu-box:8000, which is asked once you send a message."
