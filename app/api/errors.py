"""Error responses: always a JSON object of one form. Any thread."""

from typing import Any

from pydantic import ValidationError

from app.protocol.errors import EngineError, RequestError

MAX_MESSAGE_CHARS = 500
RETRY_SECONDS = 2

# llama-server's wording, which clients match on.
TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    501: "not_supported_error",
    503: "unavailable_error",
}


class ApiError(Exception):
    """Ends one request with an HTTP status. `more` goes beside code, message and type of the error object."""

    def __init__(self, status: int, message: str, kind: str = "", **more: Any) -> None:
        super().__init__(message)
        self.status = status
        self._kind = (
            kind or TYPES.get(status) or ("invalid_request_error" if status < 500 else "server_error")
        )
        self._more = more

    @property
    def headers(self) -> dict[str, str]:
        match self.status:
            case 401:
                return {"WWW-Authenticate": "Bearer"}
            case 503:
                return {"Retry-After": str(RETRY_SECONDS)}
        return {}

    @property
    def body(self) -> dict[str, Any]:
        message = str(self)[:MAX_MESSAGE_CHARS]
        return {"error": {"code": self.status, "message": message, "type": self._kind} | self._more}


def invalid(message: str) -> ApiError:
    return ApiError(400, message)


def unavailable(message: str) -> ApiError:
    return ApiError(503, message)


def from_validation(error: ValidationError) -> ApiError:
    """The first thing that is wrong, by the name that the caller gave it."""
    problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(str(part) for part in problem["loc"])
    return invalid(f"{where}: {problem['msg']}" if where else problem["msg"])


def from_engine(error: RequestError | EngineError) -> ApiError:
    if isinstance(error, EngineError):
        return unavailable(str(error))
    return invalid(str(error))
