"""The tool with which a model hands out tasks. Its chat runs it: see `app.chats.tasks`."""

from app.chats.tasks import DELEGATE, DESCRIPTION, PARAMETERS
from app.tools.server_config import HAND_OUT
from app.tools.tool import Tool, run_by_its_chat


def delegate_tool() -> Tool:
    title = "Work on tasks side by side"
    return Tool(DELEGATE, title, DESCRIPTION, PARAMETERS, run_by_its_chat, kind="builtin", key=HAND_OUT)
