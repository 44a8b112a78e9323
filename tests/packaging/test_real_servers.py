"""The script of packaging/real_servers. What it drives must be installed first: a run is no test."""

import json

from app.media.sniff import kind_of
from app.protocol.media import MediaKind
from real_servers.checks import CHECKS, CITY, RED_PNG, TOOLS


def test_what_is_asked_is_well_formed():
    assert json.loads(TOOLS)[0]["function"]["parameters"] == CITY
    assert kind_of(RED_PNG) is MediaKind.PICTURE
    assert len({check.__name__ for check in CHECKS}) == len(CHECKS)
