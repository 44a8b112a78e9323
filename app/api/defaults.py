"""The server's own defaults for all requests, from its command line."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from app.api.json_body import as_json
from app.protocol.errors import InvalidRequestError
from app.protocol.json_object import read_object
from app.protocol.request import Message, Overflow, Request, Role
from app.protocol.sampling import SamplingParams


@dataclass(frozen=True, slots=True)
class Defaults:
    """For requests without values of their own. With `is_verbose`, chat answers include the whole prompt."""

    temperature: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    overflow: Overflow = Overflow.STOP
    template_variables: str = ""
    is_verbose: bool = False

    def check(self) -> None:
        """Raises InvalidRequestError for values that a request could not have either."""
        self.sampling(SamplingParams())
        self.applied_to(Request("", "", (Message(Role.USER, ""),)))
        if self.max_tokens is not None and self.max_tokens < 1:
            raise InvalidRequestError(f"max_tokens must be at least 1, not {self.max_tokens}.")

    def sampling(self, recommended: SamplingParams) -> SamplingParams:
        """Raises InvalidRequestError."""
        given: dict[str, Any] = {"temperature": self.temperature, "seed": self.seed}
        return replace(recommended, **{name: value for name, value in given.items() if value is not None})

    def applied_to(self, request: Request, **more: Any) -> Request:
        """With `more` of its fields changed in the same go: there may be a thousand requests at once."""
        changes: dict[str, Any] = {"overflow": self.overflow, **more}
        if request.max_tokens is None:
            changes["max_tokens"] = self.max_tokens
        if self.template_variables and request.messages:
            changes["template_variables"] = _merged(self.template_variables, request.template_variables)
        return replace(request, **changes)


@lru_cache(maxsize=8)  # copies of one request have the same ones
def _merged(ours: str, theirs: str) -> str:
    name = "The template variables"
    return as_json(read_object(ours, name) | read_object(theirs, name))
