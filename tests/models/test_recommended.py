import pytest

from app.models.hub import HubFile, HubModel, is_repo_id
from app.models.recommended import RECOMMENDED, best_of, need_bytes
from app.system.said import Said

GIB = 2**30


def model(quantisation: str, gib: float, problem: str = "") -> HubModel:
    file = HubFile(f"{quantisation}.gguf", int(gib * GIB), "0" * 64)
    return HubModel(quantisation, quantisation, (file,), problem)


FOUR_B = [model("Q2_K", 1.6), model("Q4_K_M", 2.4), model("Q5_K_M", 2.8), model("Q8_0", 4.2), model("F16", 8)]
SMALL = [model("Q4_K_M", 0.4), model("Q6_K", 0.5), model("Q8_0", 0.6), model("F16", 1.2)]


@pytest.mark.parametrize(
    ("models", "free_gib", "quantisation", "best"),
    [
        (FOUR_B, 16, "", "Q4_K_M"),
        (FOUR_B, 3, "", "Q2_K"),
        (FOUR_B, 0, "", "Q4_K_M"),  # unknown
        (FOUR_B, 0.5, "", "Q2_K"),  # nothing fits: the smallest
        (FOUR_B, 16, "Q8_0", "Q8_0"),
        (FOUR_B, 16, "Q6_K", "Q4_K_M"),  # the recommended one is gone
        (SMALL, 16, "", "Q8_0"),
        ([model("", 2), model("", 3)], 16, "", 3),  # the larger one
        ([model("Q4_K_M", 2, "parts are missing"), model("Q2_K", 1)], 16, "", "Q2_K"),
    ],
)
def test_the_best_one_of_a_repository(
    models: list[HubModel], free_gib: float, quantisation: str, best: str | int
) -> None:
    found = best_of(models, int(free_gib * GIB), quantisation)
    assert found
    assert best in (found.quantisation, found.size_bytes / GIB)
    assert best_of([], 16 * GIB) is None


def test_the_list_can_be_shown_and_asked_for() -> None:
    assert len(RECOMMENDED) >= 12
    assert len({recommended.repo_id for recommended in RECOMMENDED}) == len(RECOMMENDED)
    for one in RECOMMENDED:
        assert is_repo_id(one.repo_id)
        assert isinstance(one.purpose, Said)
        # Half a byte to a bit more than two for each parameter: the two figures are of one model.
        assert 0.5 < one.approximate_bytes / one.num_params < 1.2
        assert need_bytes(one.approximate_bytes) > one.approximate_bytes
    sizes = [one.approximate_bytes for one in RECOMMENDED]
    assert sizes == sorted(sizes)
