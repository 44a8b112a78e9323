"""The scripts of packaging/api_clients. What they drive must be installed first: a run is no test."""

import json
import re

from api_clients.features import PARIS, ROME
from api_clients.install import CLIENTS, NODE_PACKAGES, PYTHON_PACKAGES
from api_clients.model import TWO_CALLS


def test_each_client_has_a_script_and_each_script_a_client():
    scripts = {path.stem for path in CLIENTS.iterdir() if path.suffix in (".py", ".js")}
    assert scripts - {"__init__", "features"} == {*PYTHON_PACKAGES, *NODE_PACKAGES}


def test_the_scripted_answer_is_the_two_calls_that_the_clients_expect():
    calls = re.findall(r"<tool_call>\n(.*)\n</tool_call>", "".join(TWO_CALLS))
    assert [json.loads(call)["arguments"] for call in calls] == [PARIS, ROME]


def test_no_piece_of_the_scripted_answer_comes_twice():
    assert len({*TWO_CALLS}) == len(TWO_CALLS)
