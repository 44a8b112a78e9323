import pytest

from app.protocol.model_names import model_name, quantisation_name, titled


@pytest.mark.parametrize(
    ("basename", "finetune", "size", "name", "shown"),
    [
        ("Qwen2.5-Coder", "Instruct-GGUF", "1.5B", "Qwen2.5 Coder 1.5B Instruct GGUF", "Qwen2.5-Coder 1.5B"),
        ("Qwen2.5-Coder", "Instruct-AWQ", "0.5B", "Qwen2.5 Coder 0.5B Instruct AWQ", "Qwen2.5-Coder 0.5B"),
        ("gemma-3", "", "270M", "Gemma 3 270m", "gemma-3 270M"),
        ("Llama-3.1", "Base", "8B", "Llama 3.1 8B", "Llama-3.1 8B"),
        ("Qwen2.5", "abliterated-Instruct", "7B", "Qwen 7B", "Qwen2.5 abliterated 7B"),
        ("gemma-3", "it", "4B", "Gemma 3 4B It", "gemma-3 4B"),
        ("", "", "3.8M", "Skein starter", "Skein starter"),
        ("", "", "", "Meta Llama 3.1 8B Instruct GGUF", "Meta Llama 3.1 8B"),
        ("", "", "", "Instruct", "Instruct"),
        ("", "", "", "", ""),
        ("Chatty", "", "1B", "", "Chatty 1B"),
    ],
)
def test_a_model_is_called_as_people_call_it(basename, finetune, size, name, shown) -> None:
    assert model_name(basename, finetune, size, name) == shown


def test_the_quantisation_is_named_once() -> None:
    assert quantisation_name(15) == quantisation_name(15 | 1024) == "Q4_K_M"
    assert quantisation_name(-1) == quantisation_name(999) == ""
    assert titled("Qwen3 0.6B", "Q8_0") == "Qwen3 0.6B · Q8_0"
    assert titled("Qwen3-0.6B-Q8_0", "Q8_0") == "Qwen3-0.6B-Q8_0"
    assert titled("Qwen3 0.6B", "") == "Qwen3 0.6B"
    assert titled("Skein starter", "F16") == "Skein starter"
