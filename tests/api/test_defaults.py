"""What the one who started the server has decided holds where a request says nothing else."""

import json

import pytest

from app.api.engine_client import Defaults
from app.protocol.errors import InvalidRequestError
from app.protocol.request import Message, Overflow, Request, Role
from app.protocol.sampling import SamplingParams
from tests.api.conftest import endless, serving

CHAT = Request("r", "c", (Message(Role.USER, "Hi"),))
RAW = Request("r", "c", prompt=("Hi",))


def test_without_a_choice_a_request_stays_as_it_is():
    assert Defaults().applied_to(CHAT) == CHAT
    recommended = SamplingParams(temperature=0.3, seed=5)
    assert Defaults().sampling(recommended) == recommended


def test_a_choice_takes_the_place_of_the_models():
    sampling = Defaults(temperature=0.0, seed=7).sampling(SamplingParams(top_k=3))
    assert (sampling.temperature, sampling.seed, sampling.top_k) == (0.0, 7, 3)
    assert Defaults(overflow=Overflow.TRUNCATE_MIDDLE).applied_to(RAW).overflow is Overflow.TRUNCATE_MIDDLE


def test_an_answer_is_as_long_as_its_caller_says():
    defaults = Defaults(max_tokens=64)
    assert defaults.applied_to(CHAT).max_tokens == 64
    assert defaults.applied_to(Request("r", "c", prompt=("Hi",), max_tokens=80)).max_tokens == 80
    assert defaults.applied_to(Request("r", "c", prompt=("Hi",), max_tokens=0)).max_tokens == 0


def test_a_callers_template_variables_go_before_the_servers():
    defaults = Defaults(template_variables='{"enable_thinking": false, "style": "short"}')
    asked = Request("r", "c", CHAT.messages, template_variables='{"style": "long"}')
    given = json.loads(defaults.applied_to(asked).template_variables)
    assert given == {"enable_thinking": False, "style": "long"}
    assert defaults.applied_to(RAW).template_variables == ""


@pytest.mark.parametrize(
    "defaults",
    [
        Defaults(temperature=-1.0),
        Defaults(seed=2**40),
        Defaults(max_tokens=0),
        Defaults(template_variables="[1]"),
        Defaults(template_variables='{"messages": []}'),
    ],
)
def test_what_no_request_could_have_is_refused_at_the_start(defaults):
    with pytest.raises(InvalidRequestError):
        defaults.check()


async def test_every_endpoint_keeps_to_the_servers_choices():
    defaults = Defaults(max_tokens=3, seed=9)
    messages = [{"role": "user", "content": "Hi"}]
    async with serving(endless(), defaults=defaults) as served:
        for path in ("/generate", "/v1/completions"):
            _, body = await served.post(path, {"prompt": "Hi"})
            assert body["usage"]["completion_tokens"] == 3
        _, body = await served.post("/v1/chat/completions", {"messages": messages})
        assert body["usage"]["completion_tokens"] == 3
        _, body = await served.post("/completion", {"prompt": "Hi"})
        assert body["tokens_predicted"] == body["generation_settings"]["n_predict"] == 3
        assert body["generation_settings"]["seed"] == 9
