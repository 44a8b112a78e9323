"""What a model is called: by people, "Qwen2.5-Coder 1.5B", and its quantisation, "Q4_K_M". Pure functions."""

import re
from pathlib import PurePath

# `general.file_type`, llama.cpp's llama_ftype. Type 4 and those missing here were removed.
FILE_TYPES = {
    0: "F32",
    1: "F16",
    2: "Q4_0",
    3: "Q4_1",
    7: "Q8_0",
    8: "Q5_0",
    9: "Q5_1",
    10: "Q2_K",
    11: "Q3_K_S",
    12: "Q3_K_M",
    13: "Q3_K_L",
    14: "Q4_K_S",
    15: "Q4_K_M",
    16: "Q5_K_S",
    17: "Q5_K_M",
    18: "Q6_K",
    19: "IQ2_XXS",
    20: "IQ2_XS",
    21: "Q2_K_S",
    22: "IQ3_XS",
    23: "IQ3_XXS",
    24: "IQ1_S",
    25: "IQ4_NL",
    26: "IQ3_S",
    27: "IQ3_M",
    28: "IQ2_S",
    29: "IQ2_M",
    30: "IQ4_XS",
    31: "IQ1_M",
    32: "BF16",
    36: "TQ1_0",
    37: "TQ2_0",
    38: "MXFP4_MOE",
    39: "NVFP4",
    40: "Q1_0",
    41: "Q2_0",
}
NAME_KEYS = ("general.basename", "general.finetune", "general.size_label", "general.name")
GUESSED = 1024  # a bit of file_type: not stated, but counted from the tensors
# What converters put into names: how a file was packed, and what every chat model is.
_PACKED = re.compile(r"[-_ ]*\b(GGUF|AWQ|GPTQ|Instruct|Chat|it)\b", re.IGNORECASE)


def model_name(basename: str, finetune: str, size: str, name: str) -> str:
    """From the texts of NAME_KEYS in a file's metadata. Empty if the file has none of them."""
    if not basename or not size:
        return _PACKED.sub("", name).strip(" -_") or name
    kind = _PACKED.sub("", finetune).strip(" -_")
    is_told = kind.lower() in basename.lower() or kind.lower() == "base"
    return " ".join(filter(None, (basename, "" if is_told else kind, size)))


def quantisation_name(file_type: int) -> str:
    """Of `general.file_type`, -1 if it is missing. Empty: unknown."""
    return FILE_TYPES.get(file_type & ~GUESSED, "") if file_type >= 0 else ""


def title_of(name: str) -> str:
    """Of a model that a server runs: a file's name for a path, as a llama-server calls its model."""
    return PurePath(name).stem if name.lower().endswith(".gguf") else name


def titled(name: str, quantisation: str) -> str:
    """Both, as people tell two files of a model apart; weights as they were trained need no word."""
    is_told = not quantisation or quantisation in ("F32", "F16", "BF16", *name.split("-"))
    return name if is_told else f"{name} · {quantisation}"
