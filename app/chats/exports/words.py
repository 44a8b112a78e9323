"""The labels in an exported chat. The caller passes them in the user's language."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExportWords:
    user: str = "You"
    assistant: str = "Assistant"
    system: str = "System"
    tool: str = "Tool"
    system_prompt: str = "System prompt"
    thinking: str = "Thinking"
    attachment: str = "Attached file"
    exported_from: str = "Exported from Skein"
    untitled: str = "New chat"
