"""The texts of all settings, page by page. A new one is a line here; type and bounds come from Settings.

Texts are marked here and translated where they are shown. GUI thread.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from PySide6.QtGui import QFontDatabase

from app.look.figures import data_size
from app.look.fonts import CODE_FAMILY, INTERFACE_FAMILY, SYSTEM, reading_font
from app.look.language import languages
from app.look.words import locale, mark, tr, tr_n, tr_said
from app.protocol.model import ModelInfo
from app.settings.appearance import MAX_ZOOM, MIN_ZOOM
from app.settings.settings import Settings
from app.ui.base.choices import COLUMNS, MOTIONS, OVERFLOWS, SPEEDS, THEMES, Choice


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
    return tr("{points} pt", points=points)


def _families(is_fixed: bool) -> Mapping[str, str]:
    """The font that comes with Skein, the system's, and all that can be chosen instead.

    A family of several foundries is one: "Courier [bitstream]" is Courier to a reader.
    """
    usual = CODE_FAMILY if is_fixed else INTERFACE_FAMILY
    families = [name for name in QFontDatabase.families() if not QFontDatabase.isPrivateFamily(name)]
    chosen = [name for name in families if QFontDatabase.isFixedPitch(name)] if is_fixed else families
    others = sorted({name.partition(" [")[0] for name in chosen} - {usual}, key=str.casefold)
    return {**_interface_fonts(usual), **{name: name for name in others}}


def _interface_fonts(usual: str = INTERFACE_FAMILY) -> Mapping[str, str]:
    return {"": usual, SYSTEM: tr("System font")}


def _pool_note(facts: Facts) -> str:
    if facts.model is None or facts.settings.n_ctx:
        return ""
    return tr("Automatic: {tokens} tokens.", tokens=_count(facts.model.n_ctx))


def _part_note(facts: Facts) -> str:
    pool = facts.settings.n_ctx or (facts.model.n_ctx if facts.model else 0)
    if not pool:
        return ""
    slots = facts.settings.n_seq_max
    return tr(
        "{part} tokens per slot ({pool} / {slots}).",
        part=_count(pool // slots),
        pool=_count(pool),
        slots=slots,
    )


def _checkpoint_note(facts: Facts) -> str:
    if facts.model is None:
        return ""
    if not facts.model.takes_checkpoints:
        return tr("{model} needs none: it can be rolled back anywhere.", model=facts.model.name)
    if facts.settings.checkpoint_mib:
        return ""
    return tr("Automatic: {size}.", size=data_size(facts.model.max_checkpoint_bytes))


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
    return Setting(name, label, sentence, word=mark("Recommended"), step=step, note=note)


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
                mark("Takes effect when Skein restarts."),
                named=_languages,
            ),
        ),
    ),
    Page(
        "look",
        mark("Appearance"),
        "sun-moon",
        (
            Setting("theme", mark("Theme"), mark("Colours of the window."), choices=THEMES),
            Setting(
                "zoom",
                mark("Text size"),
                mark("Size of messages. Ctrl and the mouse wheel change it, too."),
                named=_text_sizes,
            ),
            Setting(
                "column",
                mark("Width of messages"),
                mark("How much of a wide window the text takes."),
                choices=COLUMNS,
            ),
            Setting(
                "interface_font",
                mark("Interface font"),
                mark("Takes effect when Skein restarts."),
                named=_interface_fonts,
            ),
            Setting(
                "reading_font",
                mark("Message font"),
                mark("The font that messages are shown in."),
                named=partial(_families, is_fixed=False),
            ),
            Setting(
                "code_font",
                mark("Code font"),
                mark("A monospaced font for code blocks and inline code."),
                named=partial(_families, is_fixed=True),
            ),
            Setting(
                "motion",
                mark("Motion"),
                mark("Fading menus and blinking cursors."),
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
                mark("Shift+Enter inserts a new line. If off, Enter does, and Ctrl+Enter sends."),
            ),
            Setting(
                "automatic_titles",
                mark("Name chats automatically"),
                mark("A new chat takes its title from its first message until you rename it."),
            ),
            Setting(
                "model_titles",
                mark("Let the model name chats"),
                mark("After the first answer, when idle, the model gives a new chat its title."),
            ),
            Setting(
                "reads_ahead",
                mark("Read ahead while typing"),
                mark("Computes your message while you type, when the engine is idle. Not on battery."),
            ),
            Setting(
                "system_prompt",
                mark("System prompt"),
                mark("Instructions for the model in every new chat."),
                word=mark("None"),
                is_long=True,
            ),
            Setting(
                "overflow",
                mark("When a chat is full"),
                mark("What to do when a chat fills its context; each chat can choose its own way."),
                choices=OVERFLOWS,
            ),
        ),
    ),
    Page(
        "sampling",
        mark("Sampling"),
        "thermometer",
        (
            Remark(mark("For every chat without its own sampling settings.")),
            _sampled(
                "temperature",
                mark("Temperature"),
                mark("0 always picks the most likely token; higher values are more varied."),
                0.05,
            ),
            _sampled(
                "top_k",
                mark("Top-k"),
                mark("Sample from the k most likely tokens; 0 is off."),
            ),
            _sampled(
                "top_p",
                mark("Top-p"),
                mark("Sample from the most likely tokens that together reach this probability; 1 is off."),
                0.05,
            ),
            _sampled(
                "min_p",
                mark("Min-p"),
                mark("Removes tokens less likely than this fraction of the most likely one; 0 is off."),
                0.01,
            ),
            _sampled(
                "repeat_penalty",
                mark("Repeat penalty"),
                mark("Makes recent tokens less likely; 1 is off."),
                0.05,
            ),
            Setting(
                "max_tokens",
                mark("Maximum answer length"),
                mark("Most tokens an answer may have."),
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
                mark("Scheduling"),
                mark("How each step is shared between running answers and new prompts."),
                choices=SPEEDS,
            ),
            Setting(
                "n_threads",
                mark("Threads"),
                mark("CPU threads for computing."),
                word=mark("Automatic"),
                needs_reload=True,
                note=_core_note,
            ),
            Setting(
                "num_drafted_tokens",
                mark("Draft tokens"),
                mark("Most draft tokens checked in one step, taken from the chat's own text."),
                word=mark("None"),
                needs_reload=True,
            ),
            Setting(
                "unload_after_min",
                mark("Unload after idle minutes"),
                mark(
                    "Frees the model's memory after this much idle time. The next message or API request "
                    "loads it again."
                ),
                word=mark("Never"),
                step=5,
            ),
            Setting(
                "verify",
                mark("Verify every step"),
                mark(
                    "Compares Skein's records with llama.cpp's after every step, not only when idle. Slower."
                ),
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
                mark("Answers computed at the same time."),
                needs_reload=True,
            ),
            Setting(
                "isolated",
                mark("Isolated memory"),
                mark("Each slot gets its own part of the pool. If off, shared prefixes are stored once."),
                needs_reload=True,
                note=_part_note,
            ),
            Setting(
                "checkpoint_mib",
                mark("Memory for checkpoints (MiB)"),
                mark(
                    "For models that cannot remove an arbitrary tail: saved positions in a chat to roll "
                    "back to."
                ),
                word=mark("Automatic"),
                step=64,
                needs_reload=True,
                note=_checkpoint_note,
            ),
            Setting(
                "max_chat_tokens",
                mark("Limit per chat"),
                mark("Most tokens of one chat; each chat can have its own limit."),
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
                mark("Programs on this computer that have the key can use the model, too."),
            ),
            Setting(
                "api_port",
                mark("Port"),
                mark("A port no other program uses."),
                is_grouped=False,
            ),
            CommandRow("api.open"),
        ),
    ),
    Page(
        "shortcuts",
        mark("Shortcuts"),
        "keyboard",
        (Remark(mark("Shift+Enter always inserts a new line. Up in an empty message edits your last one.")),),
    ),
    Page(
        "privacy",
        mark("Privacy & data"),
        "shield",
        (
            Remark(mark("Models run on this computer; nothing you write leaves it.")),
            Remark(mark("Only your account can read the files with chats, settings and logs.")),
            Setting(
                "keeps_cells",
                mark("Keep cells between starts"),
                mark(
                    "Saves what was computed for open chats when Skein quits, so they are not recomputed "
                    "after a restart. Encrypted with a key in your keyring, at most 4 GB; removed when "
                    "the tab is closed or this is turned off."
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
