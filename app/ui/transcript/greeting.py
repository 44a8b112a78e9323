"""What a new chat says of the model that answers, as a value. Pure functions."""

import re
from dataclasses import dataclass
from enum import StrEnum

from app.look.figures import count, data_size, num_params
from app.look.words import mark, tr
from app.models.recommended import RECOMMENDED, largest_that_fits
from app.protocol.media import Senses
from app.protocol.model import ModelInfo
from app.services.model_state import ModelState
from app.system import paths

# Always in English: the starter model knows no other language. It answers each of them right.
STARTER_PROMPTS = ("What is 34 + 21?", "Count from 7 to 30", "What is a KV cache?", "What is Skein?")
PROMPTS = (
    mark("Explain how a transformer works in five sentences"),
    mark("Write a Python function that finds duplicates in a list"),
    mark("Draft a short message that moves a meeting to Friday"),
    mark("What should I know before I bake my first bread?"),
)
STARTER = mark(
    "A small demonstration. It adds and subtracts, counts up to 100, knows Skein and can call tools; it "
    "cannot write, translate or reason."
)
SIZE = re.compile(r"\d[KMBT]\b", re.IGNORECASE)  # "1.5B", in a name
BETWEEN, NO_BREAK_SPACE = " · ", "\xa0"  # lines are broken between facts alone


class Primary(StrEnum):
    """What the one filled button does."""

    NOTHING = ""
    GET_MODEL = "get model"
    NOTEBOOK = "notebook"


@dataclass(frozen=True, slots=True)
class Greeting:
    title: str
    facts: str = ""
    words: str = ""
    primary: Primary = Primary.NOTHING
    label: str = ""  # of the primary button
    caption: str = ""  # below it
    prompts: tuple[str, ...] = ()  # to be sent by a click


def greeting(state: ModelState, free_bytes: int = 0) -> Greeting:
    """`free_bytes` of memory for a model; 0: not known."""
    model = state.model
    if model is None:
        return _without_model(state, free_bytes)
    facts = BETWEEN.join(fact.replace(" ", NO_BREAK_SPACE) for fact in fact_texts(model))
    if model.path == paths.starter_model():
        return Greeting(
            model.title, facts, tr(STARTER), Primary.GET_MODEL, tr("Get a real model"),
            sizes_text(free_bytes), STARTER_PROMPTS,
        )  # fmt: skip
    if not model.has_template:
        return Greeting(model.title, facts, base_words(model), Primary.NOTEBOOK, tr("Open a notebook"))
    return Greeting(model.title, facts, prompts=tuple(map(tr, PROMPTS)))


def base_words(model: ModelInfo) -> str:
    """What a model without a chat template does; "" for one with."""
    if model.has_template:
        return ""
    return tr("{name} is a base model without a chat template: it continues text.", name=model.name)


def _without_model(state: ModelState, free_bytes: int) -> Greeting:
    if state.loading:
        words = tr("What you send now is answered once it is loaded.")
        return Greeting(tr("Loading {name}…", name=state.loading.stem), words=words)
    if state.host:
        words = tr("Runs on {host}, which is asked once you send a message.", host=state.host)
        return Greeting(state.absent.name if state.absent else "", words=words)
    words = tr("What you send now is answered once a model is loaded.")
    return Greeting(tr("No model"), "", words, Primary.GET_MODEL, tr("Get a model"), sizes_text(free_bytes))


def fact_texts(model: ModelInfo) -> tuple[str, ...]:
    """What it can and cannot do, as far as its file says."""
    facts = (
        _parameters(model),
        _context(model),
        senses_text(model.senses) if model.senses.is_told else "",
        tr("thinks before it answers") if model.thinks else "",
        _tools(model),
        tr("same answers beside other chats") if model.is_same_alone else "",
    )
    return tuple(fact for fact in facts if fact)


def _context(model: ModelInfo) -> str:
    if not model.max_sequence_tokens:
        return tr("context not told by this server")
    return tr("{number} tokens of context", number=count(model.max_sequence_tokens))


def _tools(model: ModelInfo) -> str:
    """Nothing, where a server does not tell."""
    if model.takes_tools:
        return tr("can call tools")
    return "" if model.is_foreign else tr("not made to call tools")


def _parameters(model: ModelInfo) -> str:
    """Nothing, where its name has told its size."""
    if not model.n_params or SIZE.search(model.name):
        return ""
    return tr("{number} parameters", number=num_params(model.n_params))


def senses_text(senses: Senses) -> str:
    if senses.sees and senses.hears:
        return tr("sees pictures and hears sound")
    if senses.sees and senses.takes_whole:
        return tr("sees pictures; other answers wait while it encodes one")
    if senses.any:
        return tr("sees pictures") if senses.sees else tr("hears sound")
    return tr("text only, no pictures or sound")


def sizes_text(free_bytes: int) -> str:
    """Which of the recommended models this machine can run."""
    smallest = min(one.approximate_bytes for one in RECOMMENDED)
    largest = largest_that_fits(free_bytes)
    if largest is None:
        return tr("From {size}, or drop a GGUF file here", size=data_size(smallest))
    return tr(
        "From {size} up to {name} ({largest}), which fits this machine; or drop a GGUF file here",
        size=data_size(smallest),
        name=largest.name,
        largest=data_size(largest.approximate_bytes),
    )
