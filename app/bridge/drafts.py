"""What was typed into a text field and is not used yet: it survives Escape, quit and crash. GUI thread.

The message to be sent next is the draft of its chat; this is for all other fields.
"""

from collections.abc import Callable, Mapping

Field = tuple[str, str]  # the id of a chat or "", and the id of a message or the name of a text field


class Drafts:
    def __init__(self, save: Callable[[Field, str], object] = lambda _field, _text: None) -> None:
        """`save` brings the text of a field to the disk; an empty one is deleted there."""
        self._texts: dict[Field, str] = {}
        self._save = save

    def fill(self, texts: Mapping[Field, str]) -> None:
        """They come from the disk. What was typed meanwhile is newer."""
        self._texts = {**texts, **self._texts}

    def text(self, field: Field) -> str:
        return self._texts.get(field, "")

    def has_any_of(self, owner: str) -> bool:
        return any(text for (one, _name), text in self._texts.items() if one == owner)

    def put(self, field: Field, text: str) -> None:
        """An empty text: it was used, or given up."""
        if text != self.text(field):
            self._texts[field] = text
            self._save(field, text)
