"""What can go wrong between us and the hub. Every text says what failed, why, and what to do. Any thread."""


class HubError(Exception):
    """The hub, or the way to it, says no."""


class GatedError(HubError):
    """Its owner gives the model only to those who have asked for it, on the web page `page`."""

    def __init__(self, text: str, page: str) -> None:
        super().__init__(text)
        self.page = page


class DownloadError(Exception):
    """A file could not be had. Nothing lies under its name."""
