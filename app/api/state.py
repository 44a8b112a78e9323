"""What handlers find in the application."""

from dataclasses import dataclass

from aiohttp import web

from app.api.engine_client import EngineClient
from app.api.errors import ApiError


@dataclass(frozen=True, slots=True)
class Presentation:
    """What the model is called, what it is tagged with, and whether /slots and /metrics tell anything."""

    names: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    is_monitored: bool = True


CLIENT = web.AppKey("client", EngineClient)
PRESENTATION = web.AppKey("presentation", Presentation)


def model_names(application: web.Application) -> tuple[str, ...]:
    """What the model is called outside: never its path. Raises ApiError while there is none."""
    return application[PRESENTATION].names or (application[CLIENT].model.name,)


def model_name(application: web.Application) -> str:
    """The first of its names. Raises ApiError while there is no model."""
    return model_names(application)[0]


def require_monitoring(request: web.Request) -> None:
    """Raises ApiError (501)."""
    if not request.app[PRESENTATION].is_monitored:
        raise ApiError(501, "This server was started without /slots and /metrics.")
