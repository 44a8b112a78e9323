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


# OpenAI's, where it has one.
CODES = {401: "invalid_api_key", 404: "not_found", 413: "request_too_large", 503: "server_unavailable"}
OPENAI_PATHS = ("/v1/", "/chat/", "/models")

WANTED = {
    "string": "a string",
    "list": "a list",
    "dict": "an object",
    "model": "an object",
    "model_attributes": "an object",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
}


class ApiError(Exception):
    """Ends one request with an HTTP status.

    `code` is OpenAI's word for what is wrong, and `param` the field it is about. `more` goes beside code,
    message and type of the error object.
    """

    def __init__(
        self,
        status: int,
        message: str,
        kind: str = "",
        *,
        code: str | None = None,
        param: str | None = None,
        **more: Any,
    ) -> None:
        super().__init__(message)
        self.status = status
        self._kind = (
            kind or TYPES.get(status) or ("invalid_request_error" if status < 500 else "server_error")
        )
        self._code = code or CODES.get(status)
        self._param = param
        self._more = more

    @property
    def headers(self) -> dict[str, str]:
        match self.status:
            case 401:
                return {"WWW-Authenticate": "Bearer"}
            case 503:
                return {"Retry-After": str(RETRY_SECONDS)}
        return {}

    def body(self, path: str) -> dict[str, Any]:
        """The body that clients of that path expect.

        They agree on message and type, not on the code: OpenAI's is a word or null, as its clients declare
        it, llama-server's repeats the HTTP status. None of llama-server's own clients reads it on OpenAI's
        paths, where they go by type.
        """
        message = str(self)[:MAX_MESSAGE_CHARS]
        error: dict[str, Any] = {"code": self.status, "message": message, "type": self._kind}
        if path.startswith(OPENAI_PATHS):
            error |= {"param": self._param, "code": self._code}
        return {"error": error | self._more}


def invalid(message: str, param: str | None = None, code: str | None = None) -> ApiError:
    return ApiError(400, message, param=param, code=code)


def unavailable(message: str) -> ApiError:
    return ApiError(503, message)


def from_validation(error: ValidationError, body: object) -> ApiError:
    """What is wrong with the first wrong field of `body`, by the name that the caller gave it.

    Where a field may be of several types, each of them is complained about: the complaint that lies deepest
    is of the type that was meant, and so is one that is about more than the type.
    """
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    of_field = [one for one in problems if one["loc"][:1] == problems[0]["loc"][:1]]
    problem = max(of_field, key=lambda one: (len(one["loc"]), not one["type"].endswith("_type")))
    where = _path(problem["loc"], body)
    types = [one["type"] for one in of_field if _path(one["loc"], body) == where]
    message = problem["msg"]
    if all(one.endswith("_type") for one in types):
        message = f"Input should be {' or '.join(sorted(set(map(_kind_wanted, types))))}"
    code = "missing_required_parameter" if problem["type"] == "missing" else "invalid_value"
    return invalid(f"{where}: {message}" if where else message, where or None, code)


def _kind_wanted(error_type: str) -> str:
    """`list_type` and the like, in JSON's words."""
    name = error_type.removesuffix("_type")
    return WANTED.get(name, name)


def _path(loc: tuple[int | str, ...], body: object) -> str:
    """A path such as messages[0].content, without the names of types, which pydantic puts between."""
    path, value = "", body
    for number, part in enumerate(loc):
        if isinstance(part, int) and isinstance(value, list) and part < len(value):
            path, value = f"{path}[{part}]", value[part]
        elif isinstance(part, str) and isinstance(value, dict) and (part in value or number == len(loc) - 1):
            path, value = f"{path}.{part}" if path else part, value.get(part)
    return path


def from_engine(error: RequestError | EngineError) -> ApiError:
    if isinstance(error, EngineError):
        return unavailable(str(error))
    return invalid(str(error))
