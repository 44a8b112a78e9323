"""The texts of all settings, page by page. A new one is a line here; type and bounds come from Settings.

Texts are marked here and translated where they are shown. GUI thread.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from PySide6.QtGui import QFontDatabase

from app.look.figures import data_size
from app.look.fonts import reading_font
from app.look.language import languages
from app.look.words import locale, mark, tr, tr_n, tr_said
from app.protocol.model import ModelInfo
from app.settings.appearance import MAX_ZOOM, MIN_ZOOM
from app.settings.settings import Settings
from app.ui.base.choices import MOTIONS, OVERFLOWS, SPEEDS, THEMES, Choice


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about this computer and its model."""

    settings: Settings
    model: ModelInfo | None
    num_cores: int
    why_not_kept: str = ""  # why cells of chats cannot be kept, if that failed


@dataclass(frozen=True, slots=True)
class Setting:
    """`sentence` says what it does. `word` is shown for zero, for none, or for an empty text.

    `note` describes its effect on this machine. With a `word_for_zero`, `word` is for None only.
    """

    name: str  # of the field of Settings
    label: str
    sentence: str
    word: str = ""
    word_for_zero: str = ""
    step: float = 1
    choices: Sequence[Choice] = ()
    named: Callable[[], Mapping[Any, str]] | None = None  # values and their names, if known only at run time
    is_long: bool = False  # several lines of text
    is_grouped: bool = True  # a number with its thousands apart
    needs_reload: bool = False
    note: Callable[[Facts], str] | None = None


@dataclass(frozen=True, slots=True)
class Remark:
    text: str


@dataclass(frozen=True, slots=True)
class CommandRow:
    """A command of the menus, by its name, with a button."""

    name: str


@dataclass(frozen=True, slots=True)
class Page:
    name: str
    title: str
    icon: str
    rows: Sequence[Setting | Remark | CommandRow]


def _languages() -> Mapping[str, str]:
    return {"": tr("System"), **languages()}


def _text_sizes() -> Mapping[int, str]:
    return {zoom: _text_size(zoom) for zoom in range(MIN_ZOOM, MAX_ZOOM + 1)}


def _text_size(zoom: int) -> str:
    points = locale().toString(reading_font(zoom).pointSizeF(), "g", 3)
    return tr("{points} points", points=points) if zoom else tr("{points} points, as usual", points=points)


def _families(is_fixed: bool) -> Mapping[str, str]:
    """The system's font, and all that can be chosen instead."""
    families = [name for name in QFontDatabase.families() if not QFontDatabase.isPrivateFamily(name)]
    chosen = [name for name in families if QFontDatabase.isFixedPitch(name)] if is_fixed else families
    return {"": tr("System font"), **{name: name for name in chosen}}


def _pool_note(facts: Facts) -> str:
    if facts.model is None or facts.settings.n_ctx:
        return ""
    return tr("Automatic is {tokens} tokens here.", tokens=_count(facts.model.n_ctx))


def _part_note(facts: Facts) -> str:
    pool = facts.settings.n_ctx or (facts.model.n_ctx if facts.model else 0)
    if not pool:
        return ""
    slots = facts.settings.n_seq_max
    return tr(
        "That would be {part} tokens ({pool} / {slots}) for each slot.",
        part=_count(pool // slots),
        pool=_count(pool),
        slots=slots,
    )


def _checkpoint_note(facts: Facts) -> str:
    if facts.model is None:
        return ""
    if not facts.model.takes_checkpoints:
        return tr("{model} needs none: it can go back anywhere.", model=facts.model.name)
    if facts.settings.checkpoint_mib:
        return ""
    return tr("Automatic is {size} here.", size=data_size(facts.model.max_checkpoint_bytes))


def _core_note(facts: Facts) -> str:
    return tr_n(
        "This computer has {n} physical core.", "This computer has {n} physical cores.", facts.num_cores
    )


def _why_not_kept(facts: Facts) -> str:
    return tr_said(facts.why_not_kept)


def _recommended(facts: Facts, name: str) -> str:
    if facts.model is None:
        return ""
    value = getattr(facts.model.sampling, name)
    shown = locale().toString(float(value), "g", 4) if isinstance(value, float) else str(value)
    return tr("Recommended for {model}: {value}.", model=facts.model.name, value=shown)


def _sampled(name: str, label: str, sentence: str, step: float = 1) -> Setting:
    """None is what the model's maker recommends."""
    note = partial(_recommended, name=name)
    return Setting(name, label, sentence, word=mark("As recommended"), step=step, note=note)


def _count(number: int) -> str:
    return locale().toString(number)


PAGES = (
    Page(
        "general",
        mark("General"),
        "settings",
        (
            Setting(
                "language",
                mark("Language"),
                mark("What the window speaks, from the next start on."),
                named=_languages,
            ),
        ),
    ),
    Page(
        "look",
        mark("Look"),
        "sun-moon",
        (
            Setting("theme", mark("Theme"), mark("Which colours the window has."), choices=THEMES),
            Setting(
                "zoom",
                mark("Text size"),
                mark("How large messages are written. Ctrl and the wheel over them change it, too."),
                named=_text_sizes,
            ),
            Setting(
                "reading_font",
                mark("Font for reading"),
                mark("What messages are written in."),
                named=partial(_families, is_fixed=False),
            ),
            Setting(
                "code_font",
                mark("Font for code"),
                mark("What code in messages is written in: fonts whose letters all have one width."),
                named=partial(_families, is_fixed=True),
            ),
            Setting(
                "motion",
                mark("Motion"),
                mark("Whether anything moves by itself: menus that fade in, cursors that blink."),
                choices=MOTIONS,
            ),
        ),
    ),
    Page(
        "chats",
        mark("Chats"),
        "message-square",
        (
            Setting(
                "enter_sends",
                mark("Enter sends the message"),
                mark("Shift+Enter begins a new line. Otherwise Enter does, and Ctrl+Enter sends."),
            ),
            Setting(
                "automatic_titles",
                mark("Titles by themselves"),
                mark("A new chat is named after its first message, until you give it another name."),
            ),
            Setting(
                "model_titles",
                mark("Titles by the model"),
                mark("The model names a new chat after its first answer, while it has nothing else to do."),
            ),
            Setting(
                "reads_ahead",
                mark("Read ahead while typing"),
                mark("What you type is computed before you send it, while nothing else is. Not on battery."),
            ),
            Setting(
                "system_prompt",
                mark("System prompt"),
                mark("What every new chat tells the model before the first message."),
                word=mark("None"),
                is_long=True,
            ),
            Setting(
                "overflow",
                mark("When a chat is full"),
                mark("What becomes of a new chat that no longer fits; each chat can choose for itself."),
                choices=OVERFLOWS,
            ),
        ),
    ),
    Page(
        "sampling",
        mark("Sampling"),
        "thermometer",
        (
            Remark(mark("How the next token is chosen, in every chat that has no settings of its own.")),
            _sampled(
                "temperature",
                mark("Temperature"),
                mark("0 always takes the most likely token; higher values let less likely ones through."),
                0.05,
            ),
            _sampled(
                "top_k",
                mark("Top-k"),
                mark("Only the so many most likely tokens are considered; 0 considers all."),
            ),
            _sampled(
                "top_p",
                mark("Top-p"),
                mark("Only the likeliest tokens that together reach this probability; 1 considers all."),
                0.05,
            ),
            _sampled(
                "min_p",
                mark("Min-p"),
                mark(
                    "Tokens less likely than this part of the likeliest one are left out; 0 leaves out none."
                ),
                0.01,
            ),
            _sampled(
                "repeat_penalty",
                mark("Repeat penalty"),
                mark("Makes tokens that were there lately less likely; 1 does nothing."),
                0.05,
            ),
            Setting(
                "max_tokens",
                mark("Longest answer"),
                mark("How many tokens an answer may have."),
                word=mark("No limit"),
                step=64,
            ),
        ),
    ),
    Page(
        "engine",
        mark("Engine"),
        "cpu",
        (
            Setting(
                "speed",
                mark("What goes first"),
                mark("How a step is shared between answers that run and prompts that are read."),
                choices=SPEEDS,
            ),
            Setting(
                "n_threads",
                mark("Threads"),
                mark("How many CPU threads compute."),
                word=mark("Automatic"),
                needs_reload=True,
                note=_core_note,
            ),
            Setting(
                "num_drafted_tokens",
                mark("Guessed tokens"),
                mark("Most tokens guessed from the chat's own text and checked in one step."),
                word=mark("None"),
                needs_reload=True,
            ),
            Setting(
                "unload_after_min",
                mark("Sleep after minutes"),
                mark(
                    "After so long a silence the model gives its memory back. "
                    "The next message, or a program that asks, loads it again."
                ),
                word=mark("Never"),
                step=5,
            ),
            Setting(
                "verify",
                mark("Check every step"),
                mark("Compare our books with the library's after every step, not only when idle; slower."),
                needs_reload=True,
            ),
            CommandRow("model.load-settings"),
            CommandRow("context.settings"),
            CommandRow("tools.self-test"),
        ),
    ),
    Page(
        "context",
        mark("Context"),
        "layers",
        (
            Setting(
                "n_ctx",
                mark("Context pool (all chats)"),
                mark("Tokens for all chats together."),
                word=mark("Automatic"),
                step=1024,
                needs_reload=True,
                note=_pool_note,
            ),
            Setting(
                "n_seq_max",
                mark("Parallel chats (slots)"),
                mark("How many answers are computed at the same time."),
                needs_reload=True,
            ),
            Setting(
                "isolated",
                mark("Isolated memory"),
                mark("Each slot has its part of the pool for itself; else equal beginnings are kept once."),
                needs_reload=True,
                note=_part_note,
            ),
            Setting(
                "checkpoint_mib",
                mark("Memory for checkpoints (MiB)"),
                mark("For models that can go back in a chat only to where that was saved."),
                word=mark("Automatic"),
                step=64,
                needs_reload=True,
                note=_checkpoint_note,
            ),
            Setting(
                "max_chat_tokens",
                mark("Longest chat"),
                mark("Tokens that any one chat may have; a chat can have its own limit."),
                word=mark("Whole context"),
                step=256,
            ),
        ),
    ),
    Page(
        "api",
        mark("Local API"),
        "globe",
        (
            Setting(
                "api_enabled",
                mark("Local API"),
                mark("Programs on this computer that have the key can ask the model, too."),
            ),
            Setting(
                "api_port",
                mark("Port"),
                mark("Where they find it: a number no other program uses."),
                is_grouped=False,
            ),
            CommandRow("api.open"),
        ),
    ),
    Page(
        "shortcuts",
        mark("Shortcuts"),
        "keyboard",
        (Remark(mark("Shift+Enter always begins a new line; Up in an empty message edits the last one.")),),
    ),
    Page(
        "privacy",
        mark("Privacy & data"),
        "shield",
        (
            Remark(mark("Models run on this computer, and what you write does not leave it.")),
            Remark(mark("Chats, settings and logs are files that only your account can read.")),
            Setting(
                "keeps_cells",
                mark("Quicker after a start"),
                mark(
                    "What the model has computed for open chats is written to disk when Skein ends, so that "
                    "it need not read them anew. It tells as much as the chats do, so it is encrypted with a "
                    "key in your keyring. It takes at most 4 GB, and goes with its tab or when this is "
                    "switched off."
                ),
                note=_why_not_kept,
            ),
            CommandRow("tools.backups"),
            CommandRow("chat.export-all"),
            CommandRow("help.data-folder"),
            CommandRow("help.log-folder"),
        ),
    ),
)


def words_of(name: str, **changed: Any) -> Setting:
    """For another window: with its words and its step, but nothing that is about all models and chats."""
    words = next(row for page in PAGES for row in page.rows if isinstance(row, Setting) and row.name == name)
    usual: dict[str, Any] = {"word": "", "needs_reload": False, "note": None}
    return replace(words, **usual | changed)
