"""The sampling settings of a chat, and the texts that all chats have no setting for.

Types and bounds are those of SamplingParams.

Texts are marked here and translated where they are shown.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from app.bridge.parameters import Source
from app.look.words import locale, mark, tr
from app.protocol.sampling import INTEGERS, NEVER, NUMBERS, SamplingParams
from app.ui.base.setting_fields import Field
from app.ui.base.setting_list import Setting, words_of


@dataclass(frozen=True, slots=True)
class Group:
    title: str
    settings: Sequence[Setting]


COMMON = (
    *map(words_of, ("temperature", "top_k", "top_p", "min_p", "repeat_penalty")),
    Setting(
        "seed",
        mark("Seed"),
        mark(
            "A whole number. The same one draws the same answer again if it is computed in the same steps, "
            "such as alone; without one each is drawn anew."
        ),
        word=mark("Drawn anew"),
    ),
    Setting(
        "repeatable",
        mark("Repeatable"),
        mark(
            "With the same seed the same answer, whatever else is computed. Slower: it has steps of its own, "
            "one such answer at a time, and memory for a second context."
        ),
    ),
)
MORE = (
    Group(
        mark("Choosing among tokens"),
        (
            Setting(
                "typical_p",
                mark("Typical-p"),
                mark("Prefers tokens about as likely as is typical here; 1 considers all."),
                step=0.05,
            ),
            Setting(
                "top_n_sigma",
                mark("Top-nσ"),
                mark("Only tokens within so many standard deviations of the likeliest; 0 or less is off."),
                step=0.1,
            ),
            Setting(
                "xtc_probability",
                mark("XTC probability"),
                mark("How often the likeliest tokens are left out in favour of the others; 0 is off."),
                step=0.05,
            ),
            Setting(
                "xtc_threshold",
                mark("XTC threshold"),
                mark("Which tokens count as the likeliest for XTC; over 0.5 it does nothing."),
                step=0.05,
            ),
            Setting(
                "min_keep",
                mark("Keep at least"),
                mark("So many tokens stay, whatever the settings above leave out."),
            ),
            Setting(
                "dynatemp_range",
                mark("Dynamic temperature"),
                mark("How far the temperature moves with the model's certainty, up or down; 0 is off."),
                step=0.05,
            ),
            Setting(
                "dynatemp_exponent",
                mark("Dynamic exponent"),
                mark("How its movement follows the model's certainty; 1 is even."),
                step=0.1,
            ),
        ),
    ),
    Group(
        mark("Against repetition"),
        (
            Setting(
                "penalty_last_n",
                mark("Penalty span"),
                mark("How many of the last tokens the penalties look at; 0 is off."),
                step=16,
            ),
            Setting(
                "frequency_penalty",
                mark("Frequency penalty"),
                mark("Takes this from a token for each time it was there; 0 is off."),
                step=0.1,
            ),
            Setting(
                "presence_penalty",
                mark("Presence penalty"),
                mark("Takes this from a token that was there at all; 0 is off."),
                step=0.1,
            ),
            Setting(
                "dry_multiplier",
                mark("DRY strength"),
                mark("Works against repeating whole sequences; 0 is off, 0.8 is usual."),
                step=0.1,
            ),
            Setting(
                "dry_base",
                mark("DRY base"),
                mark("How fast that grows with the length of what is repeated."),
                step=0.05,
            ),
            Setting(
                "dry_allowed_length",
                mark("DRY allowed length"),
                mark("Sequences up to so many tokens may repeat."),
            ),
            Setting(
                "dry_penalty_last_n",
                mark("DRY span"),
                mark("How many of the last tokens it looks at; 0 is off."),
                step=16,
            ),
            Setting(
                "dry_sequence_breakers",
                mark("DRY breakers"),
                mark("Texts at which a sequence ends, as a JSON list."),
            ),
        ),
    ),
    Group(
        mark("Mirostat"),
        (
            Setting(
                "mirostat",
                mark("Mirostat"),
                mark("1 or 2 keeps the surprise of the text even, in place of top-k, top-p and the like."),
                word=mark("Off"),
            ),
            Setting(
                "mirostat_tau",
                mark("Target surprise"),
                mark("How surprising the text should be, in bits a token."),
                step=0.1,
            ),
            Setting(
                "mirostat_eta",
                mark("Learning rate"),
                mark("How fast it comes back to the target."),
                step=0.01,
            ),
        ),
    ),
    Group(
        mark("What the answer may be"),
        (
            Setting(
                "grammar",
                mark("Grammar"),
                mark("A grammar in GBNF, whose rule “root” is the whole answer."),
                word=mark("None"),
                is_long=True,
            ),
            Setting(
                "json_schema",
                mark("JSON schema"),
                mark("The answer is JSON of this shape."),
                word=mark("None"),
                is_long=True,
            ),
            Setting(
                "ignore_eos",
                mark("Never ends by itself"),
                mark("The answer goes on until it is as long as it may be."),
            ),
            Setting(
                "logit_bias",
                mark("Logit bias"),
                mark("Pairs of token id and bias as JSON, such as [[15043, -2], [5, false]]; false: never."),
            ),
        ),
    ),
)
_JSON_LISTS = frozenset({"dry_sequence_breakers", "logit_bias"})
_CHOOSES = frozenset({"top_k", "top_p", "min_p", "typical_p", "top_n_sigma", "xtc_probability"})


def is_written(name: str) -> bool:
    """Whether its value is typed as one line of text."""
    return name == "seed" or name in _JSON_LISTS


def field_of(name: str) -> Field:
    """The field as the settings window takes it."""
    default = next(field.default for field in fields(SamplingParams) if field.name == name)
    if name in INTEGERS:
        low, high = INTEGERS[name]
        return Field(int, default, low=low, high=high)
    if name in NUMBERS:
        lowest, highest = NUMBERS[name]
        return Field(float, default, low=lowest, high=highest)
    return Field(type(default), default)


def shown(name: str, value: Any) -> str:
    """A value in a sentence."""
    if value is None:
        return tr("none")
    if isinstance(value, bool):
        return tr("on") if value else tr("off")
    if isinstance(value, float):
        return locale().toString(value, "g", 6)
    if isinstance(value, int):
        return locale().toString(value)
    text = written(name, value) if is_written(name) else " ".join(str(value).split())
    if not text or text == "[]":
        return tr("none")
    return text if len(text) <= 40 else f"{text[:39]}…"


def written(name: str, value: Any) -> str:
    """A typed value as text in the field."""
    if value is None:
        return ""
    if name == "seed":
        return str(value)
    plain = (
        [[token, False if bias == NEVER else bias] for token, bias in value]
        if name == "logit_bias"
        else value
    )
    return json.dumps(list(plain), ensure_ascii=False)


def read(name: str, text: str) -> tuple[Any, str]:
    """The typed value, or why it is invalid."""
    if name == "seed":
        try:
            return (int(text) if text.strip() else None), ""
        except ValueError:
            return None, tr("Not used: this is no whole number.")
    if name in _JSON_LISTS:
        value = _parsed(text or "[]")
        return value, "" if isinstance(value, list) else tr("Not used: this is no JSON list.")
    if name == "json_schema" and text.strip() and not isinstance(_parsed(text), dict):
        return None, tr("Not used: this is no JSON object.")
    return text, ""


def origin(source: Source, model: str) -> str:
    """The source of the current value."""
    if source is Source.SETTINGS:
        return tr("As in the settings.")
    if source is Source.MODEL:
        return tr("Recommended for {model}.", model=model)
    return tr("llama.cpp's default.")


def otherwise(value: str, source: Source, model: str) -> str:
    """What would apply if the chat had no value of its own."""
    if source is Source.SETTINGS:
        return tr("Only in this chat; {value} in the settings.", value=value)
    if source is Source.MODEL:
        return tr("Only in this chat; {value} is recommended for {model}.", value=value, model=model)
    return tr("Only in this chat; {value} is llama.cpp's default.", value=value)


def without_effect(name: str, values: dict[str, Any]) -> str:
    """Why this setting has no effect now, due to another one."""
    if name in _CHOOSES and values["mirostat"]:
        return tr("Does nothing while Mirostat is on.")
    if name in _CHOOSES | {"seed", "mirostat"} and values["temperature"] == 0:
        return tr("Does nothing at temperature 0.")
    if name == "xtc_threshold" and not values["xtc_probability"]:
        return tr("Does nothing while XTC probability is 0.")
    if name.startswith("dry_") and name != "dry_multiplier" and not values["dry_multiplier"]:
        return tr("Does nothing while DRY strength is 0.")
    if name in ("mirostat_tau", "mirostat_eta") and not values["mirostat"]:
        return tr("Does nothing while Mirostat is off.")
    if name == "dynatemp_exponent" and not values["dynatemp_range"]:
        return tr("Does nothing while the dynamic temperature is 0.")
    return ""


def clash(name: str, values: dict[str, Any]) -> str:
    """Why this value conflicts with the others; "" if it does not."""
    if values["dynatemp_range"] > values["temperature"]:
        if name == "temperature":
            return tr(
                "Not used: it must not be below the dynamic temperature, {value}.",
                value=shown("dynatemp_range", values["dynatemp_range"]),
            )
        return tr(
            "Not used: it must not be larger than the temperature, {value}.",
            value=shown("temperature", values["temperature"]),
        )
    if values["grammar"] and values["json_schema"]:
        return tr("Not used: an answer follows a grammar or a JSON schema, not both. Empty the other one.")
    return ""


def _parsed(text: str) -> Any:
    """None for invalid JSON, also where only Python accepts it."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(text: str) -> None:
    raise ValueError(text)
