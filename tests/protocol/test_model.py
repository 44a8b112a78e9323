from tests.fakes import model_info


def test_a_title_names_the_host_of_a_model_that_runs_elsewhere():
    assert model_info(name="Qwen", quantisation="Q4_K_M").title == "Qwen · Q4_K_M"
    assert model_info(name="Qwen", server="https://gpu-box:8712").title == "Qwen · gpu-box:8712"
    lent = model_info(name="Qwen", quantisation="Q4_K_M", server="https://gpu-box:8712")
    assert lent.title == "Qwen · Q4_K_M · gpu-box:8712"
