"""What can go wrong between us and the hub. Every text says what failed, why, and what to do. Any thread."""


class HubError(Exception):
    """A request to the hub failed."""


class GatedError(HubError):
    """Access to the model must be requested on the web page `page`."""

    def __init__(self, text: str, page: str) -> None:
        super().__init__(text)
        self.page = page


class DownloadError(Exception):
    """A file could not be downloaded. It does not exist under its name."""
