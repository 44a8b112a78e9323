"""The sampling settings of a chat, and the texts that all chats have no setting for.

Types and bounds are those of SamplingParams.

Texts are marked here and translated where they are shown.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from app.bridge.parameters import ParameterSource
from app.look.words import locale, mark, tr
from app.protocol.sampling import INTEGERS, NEVER, NUMBERS, SamplingParams
from app.ui.base.setting import Field, Setting
from app.ui.base.setting_list import words_of


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
            "A whole number. The same seed gives the same answer: beside other chats, too, if a new chat "
            "says so of the model. Empty: random."
        ),
        word=mark("Random"),
    ),
)
MORE = (
    Group(
        mark("Truncation"),
        (
            Setting(
                "typical_p",
                mark("Typical-p"),
                mark(
                    "Locally typical sampling: keeps tokens whose information content is close to "
                    "expected; 1 is off."
                ),
                step=0.05,
            ),
            Setting(
                "top_n_sigma",
                mark("Top-nσ"),
                mark("Keeps tokens within this many standard deviations of the top logit; 0 or less is off."),
                step=0.1,
            ),
            Setting(
                "xtc_probability",
                mark("XTC probability"),
                mark("How often the most likely tokens are removed in favour of others; 0 is off."),
                step=0.05,
            ),
            Setting(
                "xtc_threshold",
                mark("XTC threshold"),
                mark("Probability from which XTC may remove a token; above 0.5 it is off."),
                step=0.05,
            ),
            Setting(
                "min_keep",
                mark("Min keep"),
                mark("At least this many tokens stay, whatever the samplers above remove."),
            ),
            Setting(
                "dynatemp_range",
                mark("Dynamic temperature range"),
                mark("How far the temperature varies with the entropy of the distribution; 0 is off."),
                step=0.05,
            ),
            Setting(
                "dynatemp_exponent",
                mark("Dynamic exponent"),
                mark("How temperature follows entropy; 1 is linear."),
                step=0.1,
            ),
        ),
    ),
    Group(
        mark("Repetition"),
        (
            Setting(
                "penalty_last_n",
                mark("Penalty window"),
                mark("How many recent tokens the penalties consider; 0 is off."),
                step=16,
            ),
            Setting(
                "frequency_penalty",
                mark("Frequency penalty"),
                mark("Lowers a token's logit for each occurrence; 0 is off."),
                step=0.1,
            ),
            Setting(
                "presence_penalty",
                mark("Presence penalty"),
                mark("Lowers a token's logit if it occurred at all; 0 is off."),
                step=0.1,
            ),
            Setting(
                "dry_multiplier",
                mark("DRY multiplier"),
                mark("Penalises repeated sequences; 0 is off, 0.8 is common."),
                step=0.1,
            ),
            Setting(
                "dry_base",
                mark("DRY base"),
                mark("How fast the penalty grows with the length of the repetition."),
                step=0.05,
            ),
            Setting(
                "dry_allowed_length",
                mark("DRY allowed length"),
                mark("Sequences up to this many tokens may repeat."),
            ),
            Setting(
                "dry_penalty_last_n",
                mark("DRY window"),
                mark("How many recent tokens DRY considers; 0 is off."),
                step=16,
            ),
            Setting(
                "dry_sequence_breakers",
                mark("DRY breakers"),
                mark("Strings that end a sequence, as a JSON list."),
            ),
        ),
    ),
    Group(
        mark("Mirostat"),
        (
            Setting(
                "mirostat",
                mark("Mirostat"),
                mark("1 or 2 holds perplexity steady, replacing top-k, top-p and the like; 0 is off."),
                word=mark("Off"),
            ),
            Setting(
                "mirostat_tau",
                mark("Mirostat target (tau)"),
                mark("Target surprise in bits per token."),
                step=0.1,
            ),
            Setting(
                "mirostat_eta",
                mark("Mirostat rate (eta)"),
                mark("How fast it returns to the target."),
                step=0.01,
            ),
        ),
    ),
    Group(
        mark("Constraints"),
        (
            Setting(
                "ignore_eos",
                mark("Ignore end of text"),
                mark("Generates until the length limit (ignore_eos)."),
            ),
            Setting(
                "logit_bias",
                mark("Logit bias"),
                mark("Token ids and biases as JSON, such as [[15043, -2], [5, false]]; false bans a token."),
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
    if is_written(name):
        return Field(str, default)
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
            return None, tr("Not used: not a whole number.")
    if name in _JSON_LISTS:
        value = _parsed(text or "[]")
        return value, "" if isinstance(value, list) else tr("Not used: not a JSON list.")
    return text, ""


def origin(source: ParameterSource, model: str) -> str:
    """The source of the current value."""
    if source is ParameterSource.SETTINGS:
        return tr("Same as in Settings.")
    if source is ParameterSource.MODEL:
        return tr("Recommended for {model}.", model=model)
    if source is ParameterSource.SERVER:
        return tr("Decided by the server; shown is llama.cpp's default.")
    return tr("llama.cpp's default.")


def otherwise(value: str, source: ParameterSource, model: str) -> str:
    """What would apply if the chat had no value of its own."""
    if source is ParameterSource.SETTINGS:
        return tr("This chat only; {value} in Settings.", value=value)
    if source is ParameterSource.MODEL:
        return tr("This chat only; {value} is recommended for {model}.", value=value, model=model)
    if source is ParameterSource.SERVER:
        return tr("This chat only; else the server decides.")
    return tr("This chat only; llama.cpp's default is {value}.", value=value)


def without_effect(name: str, values: dict[str, Any]) -> str:
    """Why this setting has no effect now, due to another one."""
    if name in _CHOOSES and values["mirostat"]:
        return tr("Has no effect while Mirostat is on.")
    if name in _CHOOSES | {"seed", "mirostat"} and values["temperature"] == 0:
        return tr("Has no effect at temperature 0.")
    if name == "xtc_threshold" and not values["xtc_probability"]:
        return tr("Has no effect while XTC probability is 0.")
    if name.startswith("dry_") and name != "dry_multiplier" and not values["dry_multiplier"]:
        return tr("Has no effect while the DRY multiplier is 0.")
    if name in ("mirostat_tau", "mirostat_eta") and not values["mirostat"]:
        return tr("Has no effect while Mirostat is off.")
    if name == "dynatemp_exponent" and not values["dynatemp_range"]:
        return tr("Has no effect while the dynamic temperature range is 0.")
    return ""


def clash(name: str, values: dict[str, Any]) -> str:
    """Why this value conflicts with the others; "" if it does not."""
    if values["dynatemp_range"] > values["temperature"]:
        if name == "temperature":
            return tr(
                "Not used: must not be below the dynamic temperature range, {value}.",
                value=shown("dynatemp_range", values["dynatemp_range"]),
            )
        return tr(
            "Not used: must not exceed the temperature, {value}.",
            value=shown("temperature", values["temperature"]),
        )
    return ""


def _parsed(text: str) -> Any:
    """None for invalid JSON, also where only Python accepts it."""
    try:
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        return None


def refuse(text: str) -> None:
    raise ValueError(text)
