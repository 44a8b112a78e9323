"""The texts of all settings, page by page. A new one is a line here; type and bounds come from Settings.

Texts are marked here and translated where they are shown. GUI thread.
"""

from dataclasses import replace
from functools import partial
from typing import Any

from app.look.words import mark
from app.models.hub_address import DEFAULT_ENDPOINT
from app.protocol.load import USUAL_DRAFTED_TOKENS
from app.system import paths
from app.ui.base.setting import (
    COLUMNS,
    MOTIONS,
    OVERFLOWS,
    SPEEDS,
    THEMES,
    CommandRow,
    HubToken,
    Remark,
    Setting,
    SettingPage,
)
from app.ui.base.setting_notes import (
    checkpoint_note,
    core_note,
    families,
    interface_fonts,
    language_names,
    part_note,
    pool_note,
    recommended,
    text_sizes,
    why_no_hosts,
    why_no_hub,
    why_no_origins,
    why_not_kept,
)


def _sampled(name: str, label: str, sentence: str, step: float = 1) -> Setting:
    """None is what the model's maker recommends."""
    note = partial(recommended, name=name)
    return Setting(name, label, sentence, word=mark("Recommended"), step=step, note=note)


PAGES = (
    SettingPage(
        "general",
        mark("General"),
        "settings",
        (
            Setting(
                "language",
                mark("Language"),
                mark("Takes effect when Skein restarts."),
                named=language_names,
            ),
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
            CommandRow("tools.backups"),
        ),
    ),
    SettingPage(
        "look",
        mark("Appearance"),
        "sun-moon",
        (
            Setting("theme", mark("Theme"), "", choices=THEMES),
            Setting(
                "zoom",
                mark("Text size"),
                mark("Also changed with Ctrl+mouse wheel."),
                named=text_sizes,
            ),
            Setting(
                "column",
                mark("Width of messages"),
                mark("How much of a wide window the text fills."),
                choices=COLUMNS,
            ),
            Setting(
                "interface_font",
                mark("Interface font"),
                mark("Takes effect when Skein restarts."),
                named=interface_fonts,
            ),
            Setting(
                "reading_font",
                mark("Message font"),
                "",
                named=partial(families, is_fixed=False),
            ),
            Setting(
                "code_font",
                mark("Code font"),
                "",
                named=partial(families, is_fixed=True),
            ),
            Setting(
                "motion",
                mark("Motion"),
                mark("Fading menus and blinking cursors."),
                choices=MOTIONS,
            ),
        ),
    ),
    SettingPage(
        "chats",
        mark("Chats"),
        "message-square",
        (
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
            Setting(
                "sum_up_at",
                mark("Sum up at (%)"),
                mark("A chat that fills this share of its context is summed up, if that is its way."),
                step=5,
            ),
        ),
    ),
    SettingPage(
        "models",
        mark("Models"),
        "box",
        (
            Setting(
                "download_folder",
                mark("Models folder"),
                mark("Downloads are saved here; the library lists what is in it."),
                word=mark("Default"),
                folder=paths.models_dir,
            ),
            Setting(
                "uses_other_programs_models",
                mark("Models of other programs"),
                mark("Lists those of LM Studio, Jan and others. They are never changed."),
            ),
            HubToken(),
            Setting(
                "hub_endpoint",
                mark("Mirror of Hugging Face"),
                mark("For networks that cannot reach Hugging Face."),
                word=DEFAULT_ENDPOINT,
                check=why_no_hub,
            ),
            Setting(
                "unload_after_min",
                mark("Unload when idle (minutes)"),
                mark(
                    "Frees the model's memory after this much idle time. The next message or API request "
                    "loads it again."
                ),
                word=mark("Never"),
                step=5,
            ),
            CommandRow("model.library"),
            CommandRow("model.load-settings"),
        ),
    ),
    SettingPage(
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
                mark("The most tokens an answer may have."),
                word=mark("No limit"),
                step=64,
            ),
        ),
    ),
    SettingPage(
        "tools",
        mark("Tools"),
        "wrench",
        (
            Setting(
                "max_tool_share",
                mark("Context for tools (%)"),
                mark(
                    "If their descriptions need more, and over 1,000 tokens, the model gets a list of names"
                    " and looks them up."
                ),
                step=5,
            ),
            Setting(
                "max_tool_rounds",
                mark("Maximum tool rounds"),
                mark("The most rounds of tool calls in one answer."),
            ),
            Setting(
                "max_task_depth",
                mark("Levels of tasks"),
                mark("2: a task that works side by side with others may hand out tasks of its own."),
            ),
            Setting(
                "max_tool_result_tokens",
                mark("Maximum result length"),
                mark("Tokens of a tool's result that the model gets at once; it can read the rest later."),
                step=500,
            ),
        ),
    ),
    SettingPage(
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
                mark("CPU threads that llama.cpp computes with."),
                word=mark("Automatic"),
                note=core_note,
            ),
            Setting(
                "num_drafted_tokens",
                mark("Draft tokens"),
                mark(
                    "Proposes tokens from the chat's own text, by the model's heads or by a draft model, and "
                    "checks several in one step, if faster."
                ),
                on=USUAL_DRAFTED_TOKENS,
            ),
            Setting(
                "verify",
                mark("Verify every step"),
                mark(
                    "Compares Skein's records with llama.cpp's after every step, not only when idle. Slower."
                ),
            ),
            CommandRow("tools.self-test"),
        ),
    ),
    SettingPage(
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
                note=pool_note,
            ),
            Setting(
                "n_seq_max",
                mark("Parallel chats (slots)"),
                mark("Answers computed at the same time."),
            ),
            Setting(
                "isolated",
                mark("Isolated memory"),
                mark("Each slot gets its own part of the pool. If off, shared prefixes are stored once."),
                note=part_note,
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
                note=checkpoint_note,
            ),
            Setting(
                "max_chat_tokens",
                mark("Limit per chat"),
                mark("The most tokens a chat may have; each chat can set its own limit."),
                word=mark("Whole context"),
                step=256,
            ),
            Setting(
                "max_shelf_share",
                mark("Context for a shelf (%)"),
                mark("A shelf that needs more is searched for each message."),
                step=5,
            ),
        ),
    ),
    SettingPage(
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
                mark("A port that no other program uses."),
                is_grouped=False,
            ),
            Setting(
                "api_origins",
                mark("Allowed web pages"),
                mark("Web pages and apps of other origins that may use it, with the key."),
                word="app://obsidian.md",
                check=why_no_origins,
            ),
            Setting(
                "api_hosts",
                mark("Allowed host names"),
                mark("Names under which containers, proxies or other machines reach this computer."),
                word="host.docker.internal, *.lan",
                check=why_no_hosts,
            ),
            Setting(
                "api_encrypted",
                mark("Encryption (https)"),
                mark("Uses a self-signed certificate. Programs must be set to trust it."),
            ),
            CommandRow("api.open"),
        ),
    ),
    SettingPage(
        "shortcuts",
        mark("Shortcuts"),
        "keyboard",
        (
            Remark(
                mark(
                    "Shift+Enter always inserts a new line. Up in an empty composer edits your last message."
                )
            ),
        ),
    ),
    SettingPage(
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
                note=why_not_kept,
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
    usual: dict[str, Any] = {"word": "", "note": None}
    return replace(words, **usual | changed)
