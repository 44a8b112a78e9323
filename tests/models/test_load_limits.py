from pathlib import Path

import pytest

from app.models.gguf_header import GgufHeader, TensorInfo
from app.models.load_limits import adapter_refusal, refusals, remarks
from app.protocol.load import FlashAttention, KvType, LoadParams, RopeScaling

VALUES = {
    "general.architecture": "llama",
    "llama.context_length": 2048,
    "llama.embedding_length": 80 * 4,
    "llama.attention.head_count": 4,
}
PATH = Path("a.gguf")


def header(**changes: object) -> GgufHeader:
    values = VALUES | {name.replace("__", "."): value for name, value in changes.items()}
    return GgufHeader(3, values, (), 0)


@pytest.mark.parametrize(
    ("changes", "head_length", "names"),
    [
        ({}, 80, ()),
        ({"type_k": KvType.BF16, "flash_attention": FlashAttention.OFF}, 80, ()),
        ({"type_v": KvType.Q8_0}, 64, ()),
        ({"type_v": KvType.Q8_0, "flash_attention": FlashAttention.OFF}, 64, ("type_v", "flash_attention")),
        ({"type_k": KvType.Q4_0}, 80, ("type_k",)),
        ({"type_k": KvType.Q8_0, "type_v": KvType.Q5_1}, 80, ("type_k", "type_v")),
    ],
)
def test_what_llama_cpp_would_refuse_is_refused_with_a_reason(changes, head_length, names) -> None:
    model = header(llama__attention__key_length=head_length, llama__attention__value_length=head_length)
    found = refusals(model, LoadParams(PATH, **changes))
    assert set(found) == set(names)
    assert all("Choose f16" in reason or "choose f16" in reason for reason in found.values())


def test_heads_that_the_file_does_not_measure_are_a_part_of_the_embedding() -> None:
    assert set(refusals(header(), LoadParams(PATH, type_k=KvType.Q8_0))) == {"type_k"}


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"rope_factor": 2.0}, "rope_factor"),
        ({"rope_scaling": RopeScaling.YARN}, "rope_scaling"),
        ({"rope_scaling": RopeScaling.LINEAR, "rope_factor": 2.0, "n_ctx": 8192}, None),
        ({"n_ubatch": 1024, "n_batch": 512}, "n_ubatch"),
        ({"n_ctx": 4096}, "n_ctx"),
        ({"n_ctx": 4096, "n_seq_max": 2, "isolated": True}, None),
    ],
)
def test_what_does_nothing_is_said(changes, name) -> None:
    assert set(remarks(header(), LoadParams(PATH, **changes))) == ({name} if name else set())


def test_an_adapter_must_be_one_and_for_the_same_family() -> None:
    adapter = header(general__type="adapter")
    assert adapter_refusal(adapter, header()) == ""
    assert "not a LoRA adapter" in adapter_refusal(header(), header())
    other = header(general__type="adapter", general__architecture="qwen3")
    assert "qwen3 models; this one is llama" in adapter_refusal(other, header())


def test_a_model_with_states_drafts_for_as_many_chats_as_its_snapshots_have_room() -> None:
    numbers = {
        "block_count": 32,
        "ssm.conv_kernel": 4,
        "ssm.group_count": 16,
        "ssm.inner_size": 4096,
        "ssm.state_size": 128,
    }
    values = {f"qwen35.{name}": number for name, number in numbers.items()}
    tensor = TensorInfo("token_embd.weight", (1, 1), "Q4_K", 5 << 30, 0)
    model = GgufHeader(3, {"general.architecture": "qwen35"} | values, (tensor,), 0)

    def reason(n_seq_max: int, model: GgufHeader = model) -> str:
        params = LoadParams(PATH, n_seq_max=n_seq_max, num_drafted_tokens=8)
        return str(remarks(model, params).get("num_drafted_tokens", ""))

    assert [bool(reason(n_seq_max)) for n_seq_max in (1, 2, 4)] == [False, False, True]
    assert "With so many chats at once" in reason(4)
    unable = {name.replace("qwen35", "mamba2"): value for name, value in model.values.items()}
    assert "cannot reject" in reason(1, GgufHeader(3, unable | {"general.architecture": "mamba2"}, (), 0))
