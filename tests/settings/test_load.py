import pytest

from app.settings.load import is_projector, projector_among, projector_beside


@pytest.mark.parametrize(
    ("model", "projector", "others"),
    [
        ("gemma-3-4b-it-Q4_K_M.gguf", "mmproj-model-f16.gguf", []),
        ("gemma-3-4b-it-Q4_K_M.gguf", "mmproj-F16.gguf", ["gemma-3-4b-it-Q8_0.gguf", "mmproj-BF16.gguf"]),
        (
            "Qwen2.5-VL-3B-Q4_K_M.gguf",
            "mmproj-Qwen2.5-VL-3B-f16.gguf",
            ["Qwen3-4B-Q8_0.gguf"],
        ),
        (
            "Qwen2.5-VL-3B-Q4_K_M.gguf",
            "Qwen2.5-VL-3B.mmproj-Q8_0.gguf",
            ["Qwen3-4B-Q8_0.gguf"],
        ),
        ("llava-v1.6-7b-Q4_0-00001-of-00002.gguf", "llava-v1.6-7b-mmproj-f16.gguf", ["other-Q4_0.gguf"]),
        (
            "org_pixtral-GGUF_pixtral-Q4_K_M.gguf",
            "org_pixtral-GGUF_mmproj-model-f16.gguf",
            ["x.gguf"],
        ),
        ("model.gguf", "mmproj.gguf", []),
        ("gemma-3-4b-it-Q4_K_M.gguf", None, ["mmproj-model-f16.gguf", "qwen3-4b-Q4_K_M.gguf"]),
        ("gemma-3-4b-it-Q4_K_M.gguf", None, ["mmproj-gemma-3-12b-it-f16.gguf"]),
        ("gemma-3-4b-it-Q4_K_M.gguf", None, []),
    ],
)
def test_projector_is_found_by_the_habits_of_other_programs(model, projector, others):
    names = [model, *others, *([projector] if projector else [])]
    assert projector_among(names, model) == projector


def test_projector_beside_a_model_is_found_when_it_comes_later(tmp_path):
    model = tmp_path / "tiny-Q4_0.gguf"
    model.touch()
    assert projector_beside(model) is None
    (tmp_path / "mmproj-tiny-f16.gguf").touch()
    assert projector_beside(model) == tmp_path / "mmproj-tiny-f16.gguf"
    assert projector_beside(tmp_path / "gone" / "model.gguf") is None


def test_a_model_with_a_similar_name_is_no_projector():
    assert not is_projector("mmprojector-7b.gguf")
    assert not is_projector("mmproj-f16.bin")
