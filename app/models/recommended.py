"""Good small chat models to begin with, with their sizes when the list was made; the hub has current ones.

A file is identified by its quantisation, since file names change. Pure values. Any thread.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.models.hub import HubModel
from app.models.memory_fit import Fit, fit_of
from app.system.said import said


@dataclass(frozen=True, slots=True)
class Recommended:
    repo_id: str
    quantisation: str
    name: str
    num_params: int
    licence: str
    approximate_bytes: int
    purpose: str  # what it is good for: a sentence


RECOMMENDED = (
    Recommended(
        "Qwen/Qwen3-0.6B-GGUF",
        "Q8_0",
        "Qwen3 0.6B",
        751_632_384,
        "apache-2.0",
        639_446_688,
        said("The fastest: short questions and drafts on any computer."),
    ),
    Recommended(
        "ggml-org/gemma-3-1b-it-GGUF",
        "Q4_K_M",
        "Gemma 3 1B",
        1_000_000_000,
        "gemma",
        806_058_240,
        said("Small and fluent: summaries and rewriting in English."),
    ),
    Recommended(
        "bartowski/Llama-3.2-1B-Instruct-GGUF",
        "Q4_K_M",
        "Llama 3.2 1B Instruct",
        1_235_814_432,
        "llama3.2",
        807_694_464,
        said("Small with a long context: summaries of long English texts."),
    ),
    Recommended(
        "HuggingFaceTB/SmolLM2-1.7B-Instruct-GGUF",
        "Q4_K_M",
        "SmolLM2 1.7B Instruct",
        1_711_376_384,
        "apache-2.0",
        1_055_609_536,
        said("Fully open, including its training data: everyday questions in English."),
    ),
    Recommended(
        "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        "Q4_K_M",
        "Qwen2.5 Coder 1.5B Instruct",
        1_543_714_304,
        "apache-2.0",
        1_117_320_736,
        said("Writes and explains code, even on small computers."),
    ),
    Recommended(
        "Qwen/Qwen3-1.7B-GGUF",
        "Q8_0",
        "Qwen3 1.7B",
        2_031_739_904,
        "apache-2.0",
        1_834_426_016,
        said("Thinks before it answers: a good start on a laptop."),
    ),
    Recommended(
        "ggml-org/SmolLM3-3B-GGUF",
        "Q4_K_M",
        "SmolLM3 3B",
        3_075_098_624,
        "apache-2.0",
        1_915_305_312,
        said("Fully open, including its training data; six European languages, optional thinking."),
    ),
    Recommended(
        "bartowski/Llama-3.2-3B-Instruct-GGUF",
        "Q4_K_M",
        "Llama 3.2 3B Instruct",
        3_212_749_888,
        "llama3.2",
        2_019_377_696,
        said("Conversation and long texts, fast for its size."),
    ),
    Recommended(
        "microsoft/Phi-3-mini-4k-instruct-gguf",
        "Q4",
        "Phi-3 mini 4k Instruct",
        3_821_079_552,
        "mit",
        2_393_231_072,
        said("Reasoning and textbook knowledge in English, short context."),
    ),
    Recommended(
        "ggml-org/gemma-3-4b-it-GGUF",
        "Q4_K_M",
        "Gemma 3 4B",
        3_880_099_328,
        "gemma",
        2_489_757_856,
        said("Writes well in many languages."),
    ),
    Recommended(
        "Qwen/Qwen3-4B-GGUF",
        "Q4_K_M",
        "Qwen3 4B",
        4_022_468_096,
        "apache-2.0",
        2_497_280_256,
        said("The all-rounder for 8 GiB of memory: thinks, writes code, speaks many languages."),
    ),
    Recommended(
        "Qwen/Qwen3-8B-GGUF",
        "Q4_K_M",
        "Qwen3 8B",
        8_190_735_360,
        "apache-2.0",
        5_027_783_488,
        said("More knowledge and better reasoning, for 16 GiB of memory or a graphics card."),
    ),
    Recommended(
        "ggml-org/gemma-3-12b-it-GGUF",
        "Q4_K_M",
        "Gemma 3 12B",
        11_765_788_416,
        "gemma",
        7_300_574_880,
        said("Careful writing in many languages, for 16 GiB of memory or a graphics card."),
    ),
    Recommended(
        "ggml-org/gpt-oss-20b-GGUF",
        "MXFP4",
        "gpt-oss 20B",
        20_914_757_184,
        "apache-2.0",
        12_109_566_560,
        said("Strong reasoning, fast for its size, for 24 GiB of memory or more."),
    ),
)

BESIDE_WEIGHTS_BYTES = 2**30  # some thousand tokens of context, and the compute buffer
# The usual choices, best first: little quality is lost, at half the size of a lossless one.
_PREFERRED = ("Q4_K_M", "MXFP4", "Q5_K_M", "Q4_K_S", "IQ4_XS", "Q4_0", "Q4", "Q6_K", "Q8_0", "Q3_K_M")
_SMALL_BYTES = 2**30  # below, more bits cost nearly nothing and small models need them
_FOR_SMALL = ("Q8_0", "Q6_K", "Q5_K_M", *_PREFERRED)


def need_bytes(size_bytes: int, beside_bytes: int = 0) -> int:
    """The memory of a model; a generous estimate if only its weights are known."""
    return size_bytes + beside_bytes if beside_bytes else round(1.05 * size_bytes) + BESIDE_WEIGHTS_BYTES


def largest_that_fits(free_bytes: int) -> Recommended | None:
    """The largest recommended model that fits well; None: none does, or the memory is not known."""
    needs = ((one, need_bytes(one.approximate_bytes)) for one in RECOMMENDED)
    fitting = (one for one, need in needs if fit_of(need, free_bytes) is Fit.FITS)
    return max(fitting, key=lambda one: one.approximate_bytes, default=None)


def best_of(
    models: Sequence[HubModel], free_bytes: int, quantisation: str = "", beside_bytes: int = 0
) -> HubModel | None:
    """The suggested model of a repository: the recommended one, else a usual one that fits.

    `free_bytes` 0 means unknown. None: none is available.
    """
    usable = [model for model in models if not model.problem]
    if recommended := [model for model in usable if quantisation and model.quantisation == quantisation]:
        return recommended[0]
    fitting = [
        model for model in usable if need_bytes(model.size_bytes, beside_bytes) <= (free_bytes or 2**62)
    ]
    largest_small = max(
        (model.size_bytes for model in fitting if model.quantisation == "Q8_0"), default=2**62
    )
    order = _FOR_SMALL if largest_small <= _SMALL_BYTES else _PREFERRED
    for wanted in order:
        if found := next((model for model in fitting if model.quantisation == wanted), None):
            return found
    if fitting:
        return max(fitting, key=lambda model: model.size_bytes)
    return min(usable, key=lambda model: model.size_bytes, default=None)
