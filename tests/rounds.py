"""Rounds of Qt's loop, as a test says."""

from app.bridge.rounds import rounds


def next_round(computes_s: float = 0.0) -> None:
    """So much has been computed in it already."""
    rounds()._begin()
    rounds()._began_s -= computes_s
