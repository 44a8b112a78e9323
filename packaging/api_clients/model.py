"""Writes models whose next token depends on the last one alone, so that what they say can be chosen.

Embeddings are one-hot, layers add nothing, and the output matrix has the logits after each last token.
"""

from __future__ import annotations

import string
from itertools import pairwise
from pathlib import Path

import gguf
import numpy as np
import numpy.typing as npt

from tests.native.tiny_ggufs import END_OF_TEXT, MERGES, TURN_END, TURN_START, byte_letters

N_CTX_TRAIN = 32768
HEAD_DIM, N_FFN = 32, 32
SPACE, NEWLINE = "Ġ", "Ċ"  # in GPT-2's letters; a prompt ends with a newline
NEVER = -20.0
CALL = '<tool_call>\n{"name": "'

# Two calls of one tool as Qwen writes them, in pieces. None is there twice: each names the next one.
SCRIPT = """\
<tool_call>|
{"name": "get_wea|ther", "argu|ments": {"ci|ty": "Par|is", "da|ys": 3, "met|ric": tr|ue}}|
</tool_call>
|<tool_call>
{"name": "get_|weather", "arguments": {"city|": "Ro|me", "days|": 2, "me|tric": false}}
|</tool_call>"""
TWO_CALLS = SCRIPT.split("|")
# ChatML, with tools as Hermes and Qwen 2.5 know them.
CHAT_TEMPLATE = """\
{%- if tools %}<|im_start|>system
# Tools
You may call one or more functions. Their signatures are within <tools></tools> XML tags:
<tools>
{%- for tool in tools %}
{{ tool | tojson }}
{%- endfor %}
</tools>
For each call, return a json object with its name and arguments within <tool_call></tool_call> XML tags:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call><|im_end|>
{% endif %}
{%- for message in messages %}<|im_start|>{{ 'user' if message.role == 'tool' else message.role }}
{{ message.content or '' }}
{%- for call in message.tool_calls or [] %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>
{%- endfor %}<|im_end|>
{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant{{ ' ' if messages[-1].role == 'tool' else '\n' }}
{%- endif %}"""
WORDS = [*byte_letters(), *(merge.replace(" ", "") for merge in MERGES)]
CONTROL = [END_OF_TEXT, TURN_START, TURN_END]


def write_babbler(path: Path) -> None:
    """Answers in random letters without end. If a grammar lets it, it calls a tool and ends what it began."""
    tokens = [*WORDS, *CONTROL, CALL]
    logits = np.random.default_rng(0).standard_normal((len(tokens), len(tokens)))
    more = dict.fromkeys(map(chr, range(ord("!"), ord("~"))), 0.0)
    more |= dict.fromkeys(string.ascii_letters + string.digits, 2)
    more |= {'"': 4, "}": 4, "]": 4, ",": -4, ">": NEVER, SPACE: -2, NEWLINE: -4}
    logits += [more.get(token, NEVER) for token in tokens]
    logits[tokens.index(NEWLINE), tokens.index(CALL)] = -NEVER
    logits[tokens.index(">"), tokens.index(TURN_END)] = -NEVER  # after a call
    _write(path, [CALL], logits)


def write_caller(path: Path) -> None:
    """Answers with TWO_CALLS, whatever it is asked."""
    tokens = [*WORDS, *CONTROL, *TWO_CALLS]
    logits = np.zeros((len(tokens), len(tokens)))
    logits[:, tokens.index(TURN_END)] = 1
    for last, following in pairwise([NEWLINE, *TWO_CALLS, TURN_END]):
        logits[tokens.index(last), tokens.index(following)] = -NEVER
    _write(path, TWO_CALLS, logits)


def _write(path: Path, pieces: list[str], logits: npt.NDArray[np.float64]) -> None:
    """`logits` has a row for each last token and a column for each next one."""
    n_vocab = len(logits)
    n_embd = -(-n_vocab // HEAD_DIM) * HEAD_DIM
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name(path.stem)
    writer.add_context_length(N_CTX_TRAIN)
    writer.add_embedding_length(n_embd)
    writer.add_block_count(1)
    writer.add_feed_forward_length(N_FFN)
    writer.add_head_count(n_embd // HEAD_DIM)
    writer.add_head_count_kv(1)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_dimension_count(HEAD_DIM)
    writer.add_chat_template(CHAT_TEMPLATE)
    _add_vocabulary(writer, pieces)
    # RMS norm makes a one-hot vector this long.
    output = np.zeros((n_vocab, n_embd))
    output[:, :n_vocab] = logits.T / np.sqrt(n_embd)
    shapes = {
        **dict.fromkeys(("attn_q", "attn_output"), (n_embd, n_embd)),
        **dict.fromkeys(("attn_k", "attn_v"), (HEAD_DIM, n_embd)),
        **dict.fromkeys(("ffn_gate", "ffn_up"), (N_FFN, n_embd)),
        "ffn_down": (n_embd, N_FFN),
    }
    tensors = {
        "token_embd.weight": np.eye(n_vocab, n_embd),
        "output_norm.weight": np.ones(n_embd),
        "output.weight": output,
        "blk.0.attn_norm.weight": np.ones(n_embd),
        "blk.0.ffn_norm.weight": np.ones(n_embd),
        **{f"blk.0.{name}.weight": np.zeros(shape) for name, shape in shapes.items()},
    }
    for name, values in tensors.items():
        writer.add_tensor(name, values.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_vocabulary(writer: gguf.GGUFWriter, pieces: list[str]) -> None:
    tokens = [*WORDS, *CONTROL, *pieces]
    types = [gguf.TokenType.NORMAL] * len(WORDS) + [gguf.TokenType.CONTROL] * len(CONTROL)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types(types + [gguf.TokenType.USER_DEFINED] * len(pieces))
    writer.add_token_merges(MERGES)
    writer.add_bos_token_id(tokens.index(END_OF_TEXT))
    writer.add_eos_token_id(tokens.index(TURN_END))
    writer.add_add_bos_token(False)
