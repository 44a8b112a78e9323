"""Writes chat models of some 200 KB with random weights, one for each kind of memory llama.cpp has.

They load in milliseconds and answer nonsense, always the same nonsense for the same seed. The vocabulary has
one token for each byte, so any text can be tokenised, and ChatML's control tokens.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import gguf
import numpy as np
import numpy.typing as npt

Architecture = Literal[
    "llama",
    "qwen3",
    "qwen3moe",
    "gemma2",
    "gemma3",
    "gemma4",
    "gpt-oss",
    "lfm2",
    "falcon-h1",
    "nemotron_h",
    "qwen35",
    "qwen3next",
    "mamba",
    "mamba2",
    "qwen2vl",
    "qwen3vl",
    "bert",
    "bert-ranker",
    "t5",
    "llada",
    "deepseek2",
    "glm4moe",
    "step35",
]
ARCHITECTURES: tuple[Architecture, ...] = get_args(Architecture)

METADATA_TYPES = {
    bool: gguf.GGUFValueType.BOOL,
    int: gguf.GGUFValueType.UINT32,
    float: gguf.GGUFValueType.FLOAT32,
}

END_OF_TEXT, TURN_START, TURN_END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
MERGES = ["h e", "l l", "o o", "Ġ t", "he ll"]

N_EXPERT, N_EXPERT_USED = 4, 2
CONV_LENGTH = 3
DT_RANK, CONV_KERNEL, NUM_STATE_HEADS = 2, 4, 2
ROPE_SECTIONS = [4, 2, 2, 0]
OUTPUTS = ("attn_output", "ffn_down", "ssm_out")  # what a layer adds to its input


@dataclass(frozen=True, slots=True)
class Shape:
    """How large a model is. `n_vocab` 0: as few tokens as there can be."""

    n_embd: int = 32
    n_ffn: int = 64
    n_head: int = 2
    n_head_kv: int = 1
    head_dim: int = 16
    n_state: int = 16
    sliding_window: int = 32
    n_vocab: int = 0

    @property
    def n_inner(self) -> int:
        return 2 * self.n_embd


def write_tiny_gguf(
    path: Path,
    architecture: Architecture,
    *,
    seed: int = 0,
    n_layer: int | None = None,
    n_ctx_train: int = 4096,
    chat_template: str | list[dict[str, str]] | None = CHAT_TEMPLATE,
    metadata: Mapping[str, float | bool] | None = None,
    has_vocabulary: bool = True,
    has_weights: bool = True,
    num_heads: int = 0,
    shape: Shape = Shape(),
) -> Path:
    """A GGUF at `path`, which is returned. It is complete unless something is left out.

    llama and qwen3 are plain attention, qwen3moe too, with a mixture of experts. gemma2, gemma3, gemma4 and
    gpt-oss have a sliding window of 32 tokens, gemma2 also capped logits, gemma4 layers with the keys of
    others, gpt-oss attention sinks and experts. lfm2 (convolution), falcon-h1 (both kinds in each layer),
    nemotron_h (one kind in each, or neither), qwen35 (gated delta net, M-RoPE) and qwen3next (gated delta net
    and experts) are hybrid, mamba and mamba2 are recurrent, qwen2vl and qwen3vl have M-RoPE positions. bert
    encodes only, bert-ranker has a head that ranks documents, t5 is an encoder with a decoder, and llada
    writes by diffusion: they cannot chat.

    deepseek2 (latent attention), glm4moe, step35 (a sliding window) and qwen35 can have heads that predict
    further tokens, step35 several in a chain. They are often right: a layer of such a model adds little.
    """
    layers = n_layer or (6 if architecture == "gemma3" else 4)  # every sixth layer of gemma3 sees everything
    model = _TinyModel(
        path, architecture, layers, np.random.default_rng(seed), has_vocabulary, has_weights, shape, num_heads
    )
    model.writer.add_context_length(n_ctx_train)
    for key, value in (metadata or {}).items():
        model.writer.add_key_value(key, value, METADATA_TYPES[type(value)])
    if chat_template is not None:
        model.writer.add_chat_template(chat_template)
    add_layers: dict[Architecture, Callable[[], None]] = {
        "llama": model.add_llama,
        "qwen3": model.add_qwen3,
        "qwen3moe": model.add_qwen3moe,
        "gemma2": model.add_gemma2,
        "gemma3": model.add_gemma3,
        "gemma4": model.add_gemma4,
        "gpt-oss": model.add_gpt_oss,
        "lfm2": model.add_lfm2,
        "falcon-h1": model.add_falcon_h1,
        "nemotron_h": model.add_nemotron_h,
        "qwen35": model.add_qwen35,
        "qwen3next": model.add_qwen3next,
        "mamba": model.add_mamba,
        "mamba2": model.add_mamba2,
        "qwen2vl": model.add_qwen2vl,
        "qwen3vl": model.add_qwen3vl,
        "bert": lambda: model.add_bert(n_ctx_train),
        "bert-ranker": lambda: model.add_bert_ranker(n_ctx_train),
        "t5": model.add_t5,
        "llada": model.add_llama,
        "deepseek2": model.add_deepseek2,
        "glm4moe": model.add_glm4moe,
        "step35": model.add_step35,
    }
    add_layers[architecture]()
    model.write()
    return path


def write_tiny_adapter(
    path: Path,
    architecture: str,
    *,
    weights: str = "blk.0.attn_v.weight",
    rank: int = 4,
    strength: float = 1.0,
    shape: Shape = Shape(),
) -> Path:
    """A LoRA adapter of a model that `write_tiny_gguf` makes, which changes one of its matrices."""
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
    writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, float(rank))
    rng = np.random.default_rng(7)
    for part, size in (
        ("lora_a", (rank, shape.n_embd)),
        ("lora_b", (shape.n_head_kv * shape.head_dim, rank)),
    ):
        values = strength * rng.standard_normal(size)
        writer.add_tensor(f"{weights}.{part}", values.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


class _TinyModel:
    """One file being made: its header in `writer`, its weights drawn from `rng` in a fixed order."""

    def __init__(
        self,
        path: Path,
        architecture: Architecture,
        n_layer: int,
        rng: np.random.Generator,
        has_vocabulary: bool,
        has_weights: bool,
        shape: Shape,
        num_heads: int,
    ) -> None:
        self.writer = gguf.GGUFWriter(path, architecture.removesuffix("-ranker"))
        self._num_heads = num_heads
        self._n_layer = n_layer
        self._rng = rng
        self._has_weights = has_weights
        self._shape = shape
        self.writer.add_name(f"tiny {architecture}")
        self.writer.add_embedding_length(self._shape.n_embd)
        self.writer.add_block_count(n_layer + num_heads)
        if architecture != "nemotron_h":  # which has a list
            self.writer.add_feed_forward_length(self._shape.n_ffn)
        if has_vocabulary:
            self.n_vocab = add_byte_vocabulary(self.writer, shape.n_vocab)
        else:
            self.n_vocab = 256
            self.writer.add_tokenizer_model("no_vocab")
            self.writer.add_vocab_size(self.n_vocab)
        self._add_random("token_embd.weight", self.n_vocab, self._shape.n_embd)

    def write(self) -> None:
        self._add_heads()
        self.writer.write_header_to_file()
        self.writer.write_kv_data_to_file()
        self.writer.write_tensors_to_file()
        self.writer.close()

    # The architectures.

    def add_llama(self) -> None:
        self._add_attention_header()
        self.writer.add_rope_dimension_count(self._shape.head_dim)
        self._add_ones("output_norm.weight", self._shape.n_embd)
        for block in self._blocks():
            self._add_attention(block)
            self._add_gated_ffn(block)

    def add_qwen3(self) -> None:
        self._add_attention_header()
        self._add_ones("output_norm.weight", self._shape.n_embd)
        for block in self._blocks():
            self._add_attention(block)
            self._add_query_key_norms(block)
            self._add_gated_ffn(block)

    def add_qwen3moe(self) -> None:
        self._add_attention_header()
        self._add_expert_header()
        self._add_ones("output_norm.weight", self._shape.n_embd)
        for block in self._blocks():
            self._add_attention(block)
            self._add_query_key_norms(block)
            self._add_ones(f"{block}.ffn_norm.weight", self._shape.n_embd)
            self._add_experts(block)

    def add_gpt_oss(self) -> None:
        self._add_attention_header()
        self._add_expert_header()
        self.writer.add_sliding_window(self._shape.sliding_window)
        self._add_ones("output_norm.weight", self._shape.n_embd)
        self._add_random("output.weight", self.n_vocab, self._shape.n_embd)
        for block in self._blocks():
            self._add_attention(block)
            self._add_random(f"{block}.attn_output.bias", self._shape.n_embd)
            self._add_random(f"{block}.attn_sinks.weight", self._shape.n_head)
            self._add_ones(f"{block}.post_attention_norm.weight", self._shape.n_embd)
            self._add_experts(block)
            self._add_random(f"{block}.ffn_gate_inp.bias", N_EXPERT)
            self._add_alike(f"{block}.ffn_gate_exps.bias", N_EXPERT, self._shape.n_ffn)
            self._add_alike(f"{block}.ffn_up_exps.bias", N_EXPERT, self._shape.n_ffn)
            self._add_alike(f"{block}.ffn_down_exps.bias", N_EXPERT, self._shape.n_embd)

    def add_gemma2(self) -> None:
        self.writer.add_attn_logit_softcapping(0.5)  # so low that it counts
        self.writer.add_final_logit_softcapping(30.0)
        self._add_gemma()

    def add_gemma3(self) -> None:
        self._add_gemma(has_norms=True)

    def _add_gemma(self, has_norms: bool = False) -> None:
        self._add_attention_header()
        self.writer.add_sliding_window(self._shape.sliding_window)
        self._add_ones("output_norm.weight", self._shape.n_embd)
        for block in self._blocks():
            self._add_attention(block)
            if has_norms:
                self._add_query_key_norms(block)
            self._add_ones(f"{block}.post_attention_norm.weight", self._shape.n_embd)
            self._add_ones(f"{block}.post_ffw_norm.weight", self._shape.n_embd)
            self._add_gated_ffn(block)

    def add_gemma4(self) -> None:
        has_window = [layer % 2 == 0 for layer in range(self._n_layer)]
        self._add_attention_header()
        self.writer.add_key_length_swa(self._shape.head_dim)
        self.writer.add_value_length_swa(self._shape.head_dim)
        self.writer.add_sliding_window(self._shape.sliding_window)
        self.writer.add_sliding_window_pattern(has_window)
        self.writer.add_shared_kv_layers(self._n_layer // 2)
        self.writer.add_embedding_length_per_layer_input(0)
        self._add_ones("output_norm.weight", self._shape.n_embd)
        self._add_ones("rope_freqs.weight", self._shape.head_dim // 2)
        for block in self._blocks():
            self._add_attention(block)
            self._add_query_key_norms(block)
            self._add_ones(f"{block}.post_attention_norm.weight", self._shape.n_embd)
            self._add_ones(f"{block}.post_ffw_norm.weight", self._shape.n_embd)
            self._add_gated_ffn(block)

    def add_lfm2(self) -> None:
        # A layer without key and value heads is a convolution.
        heads_kv = [self._shape.n_head_kv if layer % 2 else 0 for layer in range(self._n_layer)]
        self._add_attention_header(heads_kv)
        self.writer.add_shortconv_l_cache(CONV_LENGTH)
        self._add_ones("token_embd_norm.weight", self._shape.n_embd)
        for block, num_heads_kv in zip(self._blocks(), heads_kv, strict=True):
            if num_heads_kv:
                self._add_attention(block)
                self._add_query_key_norms(block)
            else:
                self._add_ones(f"{block}.attn_norm.weight", self._shape.n_embd)
                self._add_random(f"{block}.shortconv.conv.weight", self._shape.n_embd, CONV_LENGTH)
                self._add_random(
                    f"{block}.shortconv.in_proj.weight", 3 * self._shape.n_embd, self._shape.n_embd
                )
                self._add_random(f"{block}.shortconv.out_proj.weight", self._shape.n_embd, self._shape.n_embd)
            self._add_gated_ffn(block)

    def add_falcon_h1(self) -> None:
        self._add_attention_header()
        self._add_mamba2_header()
        self._add_ones("output_norm.weight", self._shape.n_embd)
        for block in self._blocks():
            self._add_attention(block)
            self._add_mamba2(block)
            self._add_ones(f"{block}.ffn_norm", self._shape.n_embd)
            self._add_gated_ffn(block, has_norm=False)

    def add_nemotron_h(self) -> None:
        """A state, attention, another state, and a layer that only computes."""
        self._add_attention_header([0, self._shape.n_head_kv, 0, 0])
        self.writer.add_feed_forward_length([0, 0, 0, self._shape.n_ffn])
        self.writer.add_layer_norm_eps(1e-6)
        self._add_mamba2_header()
        self._add_ones("output_norm.weight", self._shape.n_embd)
        state, attention, other_state, last = self._blocks()
        for block in (state, other_state):
            self._add_ones(f"{block}.attn_norm.weight", self._shape.n_embd)
            self._add_mamba2(block)
        self._add_attention(attention)
        self._add_ones(f"{last}.attn_norm.weight", self._shape.n_embd)
        self._add_random(f"{last}.ffn_up.weight", self._shape.n_ffn, self._shape.n_embd)
        self._add_random(f"{last}.ffn_down.weight", self._shape.n_embd, self._shape.n_ffn)

    def add_qwen35(self) -> None:
        self._add_delta_net_header()
        self.writer.add_rope_dimension_sections(ROPE_SECTIONS)
        for layer, block in enumerate(self._blocks()):
            self._add_delta_net(block, layer)
            if self._has_delta_net(layer):
                self._add_random(f"{block}.ssm_beta.weight", NUM_STATE_HEADS, self._shape.n_embd)
                self._add_random(f"{block}.ssm_alpha.weight", NUM_STATE_HEADS, self._shape.n_embd)
            self._add_gated_ffn(block, has_norm=False)

    def add_qwen3next(self) -> None:
        self._add_delta_net_header()
        self._add_expert_header()
        self.writer.add_expert_shared_feed_forward_length(self._shape.n_ffn)
        for layer, block in enumerate(self._blocks()):
            self._add_delta_net(block, layer)
            if not layer % 2:
                self._add_random(f"{block}.ssm_ba.weight", 2 * NUM_STATE_HEADS, self._shape.n_embd)
            self._add_experts(block)
            self._add_random(f"{block}.ffn_gate_inp_shexp.weight", self._shape.n_embd)
            self._add_random(f"{block}.ffn_gate_shexp.weight", self._shape.n_ffn, self._shape.n_embd)
            self._add_random(f"{block}.ffn_up_shexp.weight", self._shape.n_ffn, self._shape.n_embd)
            self._add_random(f"{block}.ffn_down_shexp.weight", self._shape.n_embd, self._shape.n_ffn)

    def _add_delta_net_header(self) -> None:
        self._add_attention_header()
        self.writer.add_full_attention_interval(2)
        self.writer.add_ssm_conv_kernel(CONV_KERNEL)
        self.writer.add_ssm_inner_size(NUM_STATE_HEADS * self._shape.n_state)
        self.writer.add_ssm_state_size(self._shape.n_state)
        self.writer.add_ssm_time_step_rank(NUM_STATE_HEADS)
        self.writer.add_ssm_group_count(1)
        self._add_ones("output_norm.weight", self._shape.n_embd)

    def _has_delta_net(self, layer: int) -> bool:
        return not layer % 2 and layer < self._n_layer

    def _add_delta_net(self, block: str, layer: int) -> None:
        """Attention in every second layer, and in a head."""
        value_width = NUM_STATE_HEADS * self._shape.n_state
        self._add_ones(f"{block}.post_attention_norm.weight", self._shape.n_embd)
        if not self._has_delta_net(layer):
            self._add_attention(block, num_query_parts=2)  # the second one is a gate
            self._add_query_key_norms(block)
            return
        self._add_ones(f"{block}.attn_norm.weight", self._shape.n_embd)
        width = 2 * self._shape.n_state + value_width
        self._add_random(f"{block}.attn_qkv.weight", width, self._shape.n_embd)
        self._add_random(f"{block}.attn_gate.weight", value_width, self._shape.n_embd)
        self._add_random(f"{block}.ssm_conv1d.weight", width, CONV_KERNEL)
        self._add_random(f"{block}.ssm_dt.bias", NUM_STATE_HEADS)
        self._add(f"{block}.ssm_a", -np.exp(self._rng.standard_normal(NUM_STATE_HEADS)))
        self._add_ones(f"{block}.ssm_norm.weight", self._shape.n_state)
        self._add_random(f"{block}.ssm_out.weight", self._shape.n_embd, value_width)

    def add_mamba(self) -> None:
        self.writer.add_head_count(0)
        self.writer.add_layer_norm_rms_eps(1e-6)
        self.writer.add_ssm_conv_kernel(CONV_KERNEL)
        self.writer.add_ssm_inner_size(self._shape.n_inner)
        self.writer.add_ssm_state_size(self._shape.n_state)
        self.writer.add_ssm_time_step_rank(DT_RANK)
        self._add_ones("output_norm.weight", self._shape.n_embd)
        for block in self._blocks():
            self._add_ones(f"{block}.attn_norm.weight", self._shape.n_embd)
            self._add_random(f"{block}.ssm_in.weight", 2 * self._shape.n_inner, self._shape.n_embd)
            self._add_random(f"{block}.ssm_conv1d.weight", self._shape.n_inner, CONV_KERNEL)
            self._add_random(f"{block}.ssm_conv1d.bias", self._shape.n_inner)
            self._add_random(f"{block}.ssm_x.weight", DT_RANK + 2 * self._shape.n_state, self._shape.n_inner)
            self._add_random(f"{block}.ssm_dt.weight", self._shape.n_inner, DT_RANK)
            self._add_random(f"{block}.ssm_dt.bias", self._shape.n_inner)
            # A state must fade, so its factor is negative.
            self._add(
                f"{block}.ssm_a",
                -np.exp(self._rng.standard_normal((self._shape.n_inner, self._shape.n_state))),
            )
            self._add_ones(f"{block}.ssm_d", self._shape.n_inner)
            self._add_random(f"{block}.ssm_out.weight", self._shape.n_embd, self._shape.n_inner)

    def add_mamba2(self) -> None:
        self.writer.add_head_count(0)
        self.writer.add_layer_norm_rms_eps(1e-6)
        self._add_mamba2_header()
        self._add_ones("output_norm.weight", self._shape.n_embd)
        for block in self._blocks():
            self._add_ones(f"{block}.attn_norm.weight", self._shape.n_embd)
            self._add_mamba2(block)

    def add_bert_ranker(self, n_ctx_train: int) -> None:
        self.add_bert(n_ctx_train, gguf.PoolingType.RANK)
        self._add_random("cls.weight", self._shape.n_embd, self._shape.n_embd)
        self._add_random("cls.output.weight", 1, self._shape.n_embd)

    def add_bert(self, n_ctx_train: int, pooling: gguf.PoolingType = gguf.PoolingType.MEAN) -> None:
        self.writer.add_head_count(self._shape.n_head)
        self.writer.add_layer_norm_eps(1e-6)
        self.writer.add_token_type_count(2)
        self.writer.add_causal_attention(False)
        self.writer.add_pooling_type(pooling)
        self._add_random("token_types.weight", 2, self._shape.n_embd)
        self._add_random("position_embd.weight", n_ctx_train, self._shape.n_embd)
        self._add_norm_with_bias("token_embd_norm")
        for block in self._blocks():
            for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
                self._add_random(f"{block}.{part}.weight", self._shape.n_embd, self._shape.n_embd)
            self._add_norm_with_bias(f"{block}.attn_output_norm")
            self._add_random(f"{block}.ffn_up.weight", self._shape.n_ffn, self._shape.n_embd)
            self._add_random(f"{block}.ffn_down.weight", self._shape.n_embd, self._shape.n_ffn)
            self._add_norm_with_bias(f"{block}.layer_output_norm")

    def add_t5(self) -> None:
        self._add_attention_header(self._shape.n_head)
        self.writer.add_relative_attn_buckets_count(8)
        self.writer.add_decoder_start_token_id(0)
        for side, attentions in (("enc", ("attn",)), ("dec", ("attn", "cross_attn"))):
            self._add_ones(f"{side}.output_norm.weight", self._shape.n_embd)
            for block in (f"{side}.{block}" for block in self._blocks()):
                for attention in attentions:
                    self._add_ones(f"{block}.{attention}_norm.weight", self._shape.n_embd)
                    for part in "qkvo":
                        self._add_random(
                            f"{block}.{attention}_{part}.weight", self._shape.n_embd, self._shape.n_embd
                        )
                self._add_random(f"{block}.attn_rel_b.weight", 8, self._shape.n_head)
                self._add_gated_ffn(block)

    def add_qwen3vl(self) -> None:
        """With one layer that takes a part of a picture's rows."""
        self.writer.add_uint32("qwen3vl.n_deepstack_layers", 1)
        self.writer.add_rope_dimension_sections(ROPE_SECTIONS)
        self.add_qwen3()

    def add_qwen2vl(self) -> None:
        self._add_attention_header()
        self.writer.add_rope_dimension_sections(ROPE_SECTIONS)
        self._add_ones("output_norm.weight", self._shape.n_embd)
        for block in self._blocks():
            self._add_attention(block)
            self._add_random(f"{block}.attn_q.bias", self._shape.n_head * self._shape.head_dim)
            self._add_random(f"{block}.attn_k.bias", self._shape.n_head_kv * self._shape.head_dim)
            self._add_random(f"{block}.attn_v.bias", self._shape.n_head_kv * self._shape.head_dim)
            self._add_gated_ffn(block)

    def add_glm4moe(self) -> None:
        self._add_attention_header()
        self._add_shared_expert_header()
        for block in self._blocks():
            self._add_attention(block)
            self._add_ones(f"{block}.post_attention_norm.weight", self._shape.n_embd)
            self._add_shared_experts(block)

    def add_deepseek2(self) -> None:
        """Keys and values are made of a latent row of `head_dim` numbers, and half as many with positions."""
        latent = width = self._shape.head_dim
        rope = latent // 2
        self._add_attention_header(1)
        self._add_shared_expert_header()
        self.writer.add_key_length(latent + rope)
        self.writer.add_value_length(latent)
        self.writer.add_key_length_mla(width + rope)
        self.writer.add_value_length_mla(width)
        self.writer.add_q_lora_rank(latent)
        self.writer.add_kv_lora_rank(latent)
        self.writer.add_rope_dimension_count(rope)
        n_embd, n_head = self._shape.n_embd, self._shape.n_head
        for block in self._blocks():
            self._add_ones(f"{block}.attn_norm.weight", n_embd)
            self._add_ones(f"{block}.attn_q_a_norm.weight", latent)
            self._add_ones(f"{block}.attn_kv_a_norm.weight", latent)
            self._add_random(f"{block}.attn_q_a.weight", latent, n_embd)
            self._add_random(f"{block}.attn_q_b.weight", n_head * (width + rope), latent)
            self._add_random(f"{block}.attn_kv_a_mqa.weight", latent + rope, n_embd)
            self._add_random(f"{block}.attn_k_b.weight", n_head, latent, width)
            self._add_random(f"{block}.attn_v_b.weight", n_head, width, latent)
            self._add_random(f"{block}.attn_output.weight", n_embd, n_head * width)
            self._add_ones(f"{block}.ffn_norm.weight", n_embd)
            self._add_shared_experts(block)

    def add_step35(self) -> None:
        self._add_attention_header()
        self._add_shared_expert_header()
        self.writer.add_expert_shared_feed_forward_length(self._shape.n_ffn)
        self.writer.add_sliding_window(self._shape.sliding_window)
        self.writer.add_sliding_window_pattern([layer % 2 == 0 for layer in range(len(self._blocks()))])
        if not self._num_heads:
            self._add_random("output.weight", self.n_vocab, self._shape.n_embd)
        for block in self._blocks():
            self._add_attention(block)
            self._add_ones(f"{block}.ffn_norm.weight", self._shape.n_embd)
            self._add_shared_experts(block)

    def _add_shared_expert_header(self) -> None:
        self._add_expert_header()
        self.writer.add_expert_shared_count(1)
        self.writer.add_expert_weights_scale(1.0)
        self.writer.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)
        self.writer.add_leading_dense_block_count(0)
        self._add_ones("output_norm.weight", self._shape.n_embd)

    def _add_shared_experts(self, block: str) -> None:
        self._add_experts(block)
        self._add(f"{block}.exp_probs_b.bias", np.zeros(N_EXPERT))
        self._add_random(f"{block}.ffn_gate_shexp.weight", self._shape.n_ffn, self._shape.n_embd)
        self._add_random(f"{block}.ffn_up_shexp.weight", self._shape.n_ffn, self._shape.n_embd)
        self._add_random(f"{block}.ffn_down_shexp.weight", self._shape.n_embd, self._shape.n_ffn)

    def _add_heads(self) -> None:
        if not self._num_heads:
            return
        self.writer.add_nextn_predict_layers(self._num_heads)
        n_embd = self._shape.n_embd
        self._add_random("output.weight", self.n_vocab, n_embd)  # else each token is followed by itself
        for block in self._blocks()[self._n_layer :]:
            self._add_ones(f"{block}.nextn.enorm.weight", n_embd)
            self._add_ones(f"{block}.nextn.hnorm.weight", n_embd)
            of_hidden_row = 0.1 * self._random((n_embd, n_embd))
            self._add(f"{block}.nextn.eh_proj.weight", np.hstack([np.eye(n_embd), of_hidden_row]))

    # What they are made of.

    def _blocks(self) -> list[str]:
        """The layers, then the heads."""
        return [f"blk.{layer}" for layer in range(self._n_layer + self._num_heads)]

    def _add_attention_header(self, heads_kv: int | list[int] | None = None) -> None:
        self.writer.add_head_count(self._shape.n_head)
        self.writer.add_head_count_kv(heads_kv or self._shape.n_head_kv)
        self.writer.add_key_length(self._shape.head_dim)
        self.writer.add_value_length(self._shape.head_dim)
        self.writer.add_layer_norm_rms_eps(1e-6)
        self.writer.add_rope_freq_base(10_000.0)

    def _add_expert_header(self) -> None:
        self.writer.add_expert_count(N_EXPERT)
        self.writer.add_expert_used_count(N_EXPERT_USED)
        self.writer.add_expert_feed_forward_length(self._shape.n_ffn)

    def _add_attention(self, block: str, num_query_parts: int = 1) -> None:
        self._add_ones(f"{block}.attn_norm.weight", self._shape.n_embd)
        self._add_random(
            f"{block}.attn_q.weight",
            num_query_parts * self._shape.n_head * self._shape.head_dim,
            self._shape.n_embd,
        )
        self._add_random(
            f"{block}.attn_k.weight", self._shape.n_head_kv * self._shape.head_dim, self._shape.n_embd
        )
        self._add_random(
            f"{block}.attn_v.weight", self._shape.n_head_kv * self._shape.head_dim, self._shape.n_embd
        )
        self._add_random(
            f"{block}.attn_output.weight", self._shape.n_embd, self._shape.n_head * self._shape.head_dim
        )

    def _add_query_key_norms(self, block: str) -> None:
        self._add_ones(f"{block}.attn_q_norm.weight", self._shape.head_dim)
        self._add_ones(f"{block}.attn_k_norm.weight", self._shape.head_dim)

    def _add_mamba2_header(self) -> None:
        self.writer.add_ssm_conv_kernel(CONV_KERNEL)
        self.writer.add_ssm_inner_size(self._shape.n_inner)
        self.writer.add_ssm_state_size(self._shape.n_state)
        self.writer.add_ssm_time_step_rank(NUM_STATE_HEADS)
        self.writer.add_ssm_group_count(1)

    def _add_mamba2(self, block: str) -> None:
        width = self._shape.n_inner + 2 * self._shape.n_state
        self._add_random(
            f"{block}.ssm_in.weight", self._shape.n_inner + width + NUM_STATE_HEADS, self._shape.n_embd
        )
        self._add_random(f"{block}.ssm_conv1d.weight", width, CONV_KERNEL)
        self._add_random(f"{block}.ssm_conv1d.bias", width)
        self._add_random(f"{block}.ssm_dt.bias", NUM_STATE_HEADS)
        self._add(f"{block}.ssm_a", -np.exp(self._rng.standard_normal((NUM_STATE_HEADS, 1))))
        self._add_ones(f"{block}.ssm_d", NUM_STATE_HEADS, 1)
        self._add_ones(f"{block}.ssm_norm.weight", 1, self._shape.n_inner)
        self._add_random(f"{block}.ssm_out.weight", self._shape.n_embd, self._shape.n_inner)

    def _add_gated_ffn(self, block: str, has_norm: bool = True) -> None:
        if has_norm:
            self._add_ones(f"{block}.ffn_norm.weight", self._shape.n_embd)
        self._add_random(f"{block}.ffn_gate.weight", self._shape.n_ffn, self._shape.n_embd)
        self._add_random(f"{block}.ffn_up.weight", self._shape.n_ffn, self._shape.n_embd)
        self._add_random(f"{block}.ffn_down.weight", self._shape.n_embd, self._shape.n_ffn)

    def _add_experts(self, block: str) -> None:
        self._add_random(f"{block}.ffn_gate_inp.weight", N_EXPERT, self._shape.n_embd)
        self._add_alike(f"{block}.ffn_gate_exps.weight", N_EXPERT, self._shape.n_ffn, self._shape.n_embd)
        self._add_alike(f"{block}.ffn_up_exps.weight", N_EXPERT, self._shape.n_ffn, self._shape.n_embd)
        self._add_alike(f"{block}.ffn_down_exps.weight", N_EXPERT, self._shape.n_embd, self._shape.n_ffn)

    def _add_norm_with_bias(self, name: str) -> None:
        self._add_ones(f"{name}.weight", self._shape.n_embd)
        self._add_random(f"{name}.bias", self._shape.n_embd)

    def _add_random(self, name: str, *shape: int) -> None:
        self._add(name, self._random(shape))

    def _random(self, shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
        # Wide enough that the likeliest token is clearly ahead of the second.
        values: npt.NDArray[np.float64] = self._rng.standard_normal(shape) * (0.6 / shape[-1] ** 0.5)
        return values

    def _add_alike(self, name: str, num_parts: int, *shape: int) -> None:
        """Parts that hardly differ: where two experts are tied, rounding may choose either."""
        parts = self._random(shape) + 0.05 * self._random((num_parts, *shape))
        self._add(name, parts)

    def _add_ones(self, name: str, *shape: int) -> None:
        self._add(name, np.ones(shape))

    def _add(self, name: str, values: npt.NDArray[np.float64]) -> None:
        if self._num_heads and name.startswith("blk.") and any(part in name for part in OUTPUTS):
            values = 0.02 * values  # so that the token itself decides most
        if self._has_weights:
            self.writer.add_tensor(name, values.astype(np.float32))


def add_byte_vocabulary(writer: gguf.GGUFWriter, n_vocab: int = 0) -> int:
    """GPT-2's byte-level vocabulary with a few merges, filled up to `n_vocab`; returns its size."""
    words = byte_letters() + [merge.replace(" ", "") for merge in MERGES]
    control = [END_OF_TEXT, TURN_START, TURN_END]
    filler = [f"Ġfiller{index}" for index in range(n_vocab - len(words) - len(control))]
    tokens = words + control + filler
    types = [gguf.TokenType.CONTROL if token in control else gguf.TokenType.NORMAL for token in tokens]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges(MERGES)
    writer.add_bos_token_id(tokens.index(END_OF_TEXT))
    writer.add_eos_token_id(tokens.index(TURN_END))
    writer.add_add_bos_token(False)
    return len(tokens)


def byte_letters() -> list[str]:
    """How GPT-2 writes each byte: printable ones as themselves, the others from U+0100 on."""
    printable = {
        *range(ord("!"), ord("~") + 1),
        *range(ord("¡"), ord("¬") + 1),
        *range(ord("®"), ord("ÿ") + 1),
    }
    others = [byte for byte in range(256) if byte not in printable]
    return [chr(byte) if byte in printable else chr(256 + others.index(byte)) for byte in range(256)]
