import json
from dataclasses import asdict

import pytest

from app.chats.options import NAMES, BadSamplingError, from_json, frozen, to_json
from app.protocol.sampling import NEVER, SamplingParams


def test_every_setting_comes_back_from_json_as_it_was() -> None:
    sampling = asdict(SamplingParams()) | {
        "logit_bias": ((15043, NEVER), (5, -1.5)),
        "seed": 2**32 - 2,
        "grammar": "root ::= [a-z]+",
        "dynatemp_range": 0.5,
        "ignore_eos": True,
    }
    assert sampling.keys() == NAMES
    stored = json.loads(json.dumps(to_json(sampling), allow_nan=False))
    assert from_json(stored) == sampling


def test_what_an_earlier_version_knew_is_left_out() -> None:
    assert from_json({"seed": 7, "repeatable": True}) == {"seed": 7}


def test_what_a_later_version_may_know_is_left_out() -> None:
    assert from_json({"temperature": 0.5, "entropix": 3}) == {"temperature": 0.5}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", float("nan")),
        ("temperature", "hot"),
        ("temperature", True),
        ("top_k", -1),
        ("top_k", 1.5),
        ("top_p", 10**400),
        ("seed", -1),
        ("dry_sequence_breakers", [1]),
        ("dry_sequence_breakers", "\n"),
        ("logit_bias", [[1]]),
        ("logit_bias", [[1, 2], [1, 3]]),
        ("grammar", "root ::= (" * 10_000),
        ("ignore_eos", 1),
        ("json_schema", {}),
    ],
)
def test_what_the_engine_would_refuse_is_refused_here_by_its_name(name: str, value: object) -> None:
    with pytest.raises(BadSamplingError) as error:
        from_json({"min_p": 0.1, name: value})
    assert error.value.name == name
    assert error.value.reason


@pytest.mark.parametrize(
    ("together", "name"),
    [
        ({"temperature": 0.2, "dynatemp_range": 0.5}, "dynatemp_range"),
        ({"grammar": 'root ::= "a"', "json_schema": "{}"}, "json_schema"),
    ],
)
def test_two_that_do_not_go_together_are_refused(together: dict[str, object], name: str) -> None:
    with pytest.raises(BadSamplingError) as error:
        from_json(together)
    assert error.value.name == name


def test_a_whole_number_with_a_point_is_one() -> None:
    assert from_json({"top_k": 40.0, "temperature": 1}) == {"top_k": 40, "temperature": 1}
    assert isinstance(frozen("top_k", 40.0), int)
