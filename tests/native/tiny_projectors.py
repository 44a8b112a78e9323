"""Writes projectors of some 100 KB with random weights, for models of `tiny_ggufs`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

import gguf
import numpy as np

Kind = Literal["mlp", "qwen2vl_merger", "qwen3vl_merger", "qwen35", "gemma3", "ultravox"]
KINDS: tuple[Kind, ...] = get_args(Kind)
MODEL_OF = {
    "mlp": "llama",
    "qwen2vl_merger": "qwen2vl",
    "qwen3vl_merger": "qwen3vl",
    "qwen35": "qwen35",
    "gemma3": "gemma3",
    "ultravox": "llama",
}

N_EMBD, N_FFN, N_LAYER, N_HEAD = 32, 64, 2, 2
NUM_MEL, MAX_AUDIO_POSITIONS, STACK = 80, 1500, 4


def write_tiny_projector(
    path: Path,
    kind: Kind,
    *,
    n_out: int = 32,
    seed: int = 0,
    patch_size: int = 14,
    image_size: int = 56,
    stack: int = STACK,
) -> Path:
    """A GGUF at `path`, which is returned.

    mlp is LLaVA's, with one row a patch; qwen2vl_merger merges four patches and has planes; qwen3vl_merger
    also gives its model's first layer a part of each row; qwen35 is the same without, for a hybrid model;
    gemma3 merges four, too, and its rows see each other; ultravox hears. With a `stack` of 8 frames llama.cpp
    ends the process that encodes.
    """
    _Projector(path, kind, n_out, seed, patch_size, image_size, stack).write()
    return path


class _Projector:
    def __init__(
        self,
        path: Path,
        kind: Kind,
        n_out: int,
        seed: int,
        patch_size: int,
        image_size: int,
        stack: int,
    ) -> None:
        self._kind, self._n_out, self._random = kind, n_out, np.random.default_rng(seed)
        self._patch_size, self._image_size, self._stack = patch_size, image_size, stack
        self._writer = gguf.GGUFWriter(path, "clip")

    def write(self) -> None:
        has_merger = self._kind == "qwen35"  # of Qwen3-VL, without what goes into its model's layers
        self._writer.add_string("clip.projector_type", "qwen3vl_merger" if has_merger else self._kind)
        if self._kind == "ultravox":
            self._add_audio()
        else:
            self._add_vision()
        self._writer.write_header_to_file()
        self._writer.write_kv_data_to_file()
        self._writer.write_tensors_to_file()
        self._writer.close()

    def _add_vision(self) -> None:
        writer = self._writer
        writer.add_bool("clip.has_vision_encoder", True)
        writer.add_bool("clip.use_gelu", True)
        self._add_sizes("vision")
        writer.add_uint32("clip.vision.image_size", self._image_size)
        writer.add_uint32("clip.vision.patch_size", self._patch_size)
        writer.add_array("clip.vision.image_mean", [0.5, 0.5, 0.5])
        writer.add_array("clip.vision.image_std", [0.5, 0.5, 0.5])
        patch = (N_EMBD, 3, self._patch_size, self._patch_size)
        self._add("v.patch_embd.weight", *patch)
        num_patches = (self._image_size // self._patch_size) ** 2
        match self._kind:
            case "mlp":
                self._add("v.position_embd.weight", num_patches, N_EMBD)
                self._add_linear("mm.0", N_EMBD, N_FFN)
                self._add_linear("mm.2", N_FFN, self._n_out)
            case "qwen2vl_merger":
                self._add("v.patch_embd.weight.1", *patch)
                self._add_linear("mm.0", 4 * N_EMBD, 4 * N_EMBD)
                self._add_linear("mm.2", 4 * N_EMBD, self._n_out)
            case "qwen3vl_merger" | "qwen35":
                self._add("v.patch_embd.weight.1", *patch)
                self._add("v.patch_embd.bias", N_EMBD)
                self._add("v.position_embd.weight", num_patches, N_EMBD)
                self._add_linear("mm.0", 4 * N_EMBD, 4 * N_EMBD)
                self._add_linear("mm.2", 4 * N_EMBD, self._n_out)
                if self._kind == "qwen3vl_merger":
                    self._add_deepstack()
            case "gemma3":
                writer.add_uint32("clip.vision.projector.scale_factor", 2)
                self._add("v.position_embd.weight", num_patches, N_EMBD)
                self._add("v.patch_embd.bias", N_EMBD)
                self._add("mm.input_projection.weight", N_EMBD, self._n_out)
                self._add("mm.soft_emb_norm.weight", N_EMBD, around=1.0)
        self._add_norm("v.post_ln")
        self._add_layers("v")

    def _add_deepstack(self) -> None:
        """What the model's first layer gets besides."""
        self._add("v.deepstack.0.norm.weight", 4 * N_EMBD, around=1.0)
        self._add("v.deepstack.0.norm.bias", 4 * N_EMBD)
        self._add_linear("v.deepstack.0.fc1", 4 * N_EMBD, 4 * N_EMBD)
        self._add_linear("v.deepstack.0.fc2", 4 * N_EMBD, self._n_out)

    def _add_audio(self) -> None:
        writer = self._writer
        writer.add_bool("clip.has_audio_encoder", True)
        self._add_sizes("audio")
        writer.add_uint32("clip.audio.num_mel_bins", NUM_MEL)
        writer.add_uint32("clip.audio.projector.stack_factor", self._stack)
        self._add("a.position_embd.weight", MAX_AUDIO_POSITIONS, N_EMBD)
        self._add("a.conv1d.1.weight", N_EMBD, NUM_MEL, 3)
        self._add("a.conv1d.1.bias", N_EMBD, 1)
        self._add("a.conv1d.2.weight", N_EMBD, N_EMBD, 3)
        self._add("a.conv1d.2.bias", N_EMBD, 1)
        self._add_norm("a.post_ln")
        self._add("mm.a.norm_pre.weight", self._stack * N_EMBD, around=1.0)
        self._add("mm.a.mlp.1.weight", 2 * N_FFN, self._stack * N_EMBD)
        self._add("mm.a.norm_mid.weight", N_FFN, around=1.0)
        self._add("mm.a.mlp.2.weight", self._n_out, N_FFN)
        self._add_layers("a", has_key_bias=False)

    def _add_sizes(self, prefix: str) -> None:
        writer = self._writer
        writer.add_uint32(f"clip.{prefix}.embedding_length", N_EMBD)
        writer.add_uint32(f"clip.{prefix}.feed_forward_length", N_FFN)
        writer.add_uint32(f"clip.{prefix}.block_count", N_LAYER)
        writer.add_uint32(f"clip.{prefix}.projection_dim", self._n_out)
        writer.add_uint32(f"clip.{prefix}.attention.head_count", N_HEAD)
        writer.add_float32(f"clip.{prefix}.attention.layer_norm_epsilon", 1e-6)

    def _add_layers(self, prefix: str, *, has_key_bias: bool = True) -> None:
        for layer in range(N_LAYER):
            block = f"{prefix}.blk.{layer}"
            for name in ("attn_q", "attn_v", "attn_out"):
                self._add_linear(f"{block}.{name}", N_EMBD, N_EMBD)
            self._add(f"{block}.attn_k.weight", N_EMBD, N_EMBD)
            if has_key_bias:
                self._add(f"{block}.attn_k.bias", N_EMBD)
            if self._kind in ("qwen3vl_merger", "qwen35"):
                self._add_linear(f"{block}.attn_qkv", N_EMBD, 3 * N_EMBD)
            self._add_linear(f"{block}.ffn_up", N_EMBD, N_FFN)
            self._add_linear(f"{block}.ffn_down", N_FFN, N_EMBD)
            self._add_norm(f"{block}.ln1")
            self._add_norm(f"{block}.ln2")

    def _add_linear(self, name: str, n_in: int, n_out: int) -> None:
        self._add(f"{name}.weight", n_out, n_in)
        self._add(f"{name}.bias", n_out)

    def _add_norm(self, name: str) -> None:
        self._add(f"{name}.weight", N_EMBD, around=1.0)
        self._add(f"{name}.bias", N_EMBD)

    def _add(self, name: str, *shape: int, around: float = 0.0) -> None:
        values = around + 0.2 * self._random.standard_normal(shape)
        kind = np.float16 if "conv" in name and name.endswith("weight") else np.float32
        if name.startswith("v.patch_embd.weight"):
            kind = np.float16
        self._writer.add_tensor(name, values.astype(kind))
