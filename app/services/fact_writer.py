"""Has the model propose facts for a chat's project after an answer, while it is idle. GUI thread.

It is asked behind the chat as it is, with the same tools and the same beginning, so that only the question is
computed. What it proposes waits for the user: nothing is remembered unseen.
"""

import json

from PySide6.QtCore import QObject

from app.bridge.chat_session import ChatSession
from app.bridge.engines import Engines
from app.bridge.workspace import Workspace
from app.chats.chat import Turn, TurnState
from app.chats.project import MAX_FACTS, MAX_PROPOSED, Fact, Project
from app.protocol.request import FACTS, Message, Request, Role
from app.protocol.sampling import SamplingParams
from app.services.idle_writer import IdleWriter
from app.services.projects import Projects

MAX_WRITTEN, MAX_CHARS = 3, 160  # of one answer, and of one fact
MAX_TOKENS = 256
WISH = (
    "Which facts about me or this work did I state in my last message that later chats should know? Answer "
    "with a JSON list of at most three short sentences in the language of this chat, each of which can be "
    "understood alone, or [] if I stated none."
)
SCHEMA = json.dumps(
    {"type": "array", "items": {"type": "string", "maxLength": MAX_CHARS}, "maxItems": MAX_WRITTEN}
)


class FactWriter(IdleWriter):
    def __init__(
        self, engine: Engines, workspace: Workspace, projects: Projects, parent: QObject | None = None
    ) -> None:
        super().__init__(engine, workspace, parent)
        self._projects = projects
        self._turn_id = ""  # the answer after which it was asked

    def _is_wanted(self, session: ChatSession, answer: Turn) -> bool:
        project = session.shelf.project
        if project is None or not project.proposes or session.requests.host:
            return False
        has_room = len(project.proposed) < MAX_PROPOSED and len(project.facts) < MAX_FACTS
        return has_room and answer.state is TurnState.DONE

    def _request_for(self, session: ChatSession) -> Request | None:
        """Of the chat as it is now: it may have been moved, or have another model."""
        answer = session.chat.turns[-1]
        if not self._is_wanted(session, answer) or answer.role is not Role.ASSISTANT:
            return None
        self._turn_id = answer.id
        return session.requests.aside(
            *(session.chat.messages(), Message(Role.USER, WISH), FACTS, MAX_TOKENS),
            sampling=SamplingParams(temperature=0.0, json_schema=SCHEMA),
            template_variables='{"enable_thinking": false}',
        )

    def _take(self, session: ChatSession, text: str) -> None:
        chat = session.chat
        facts = (Fact(one, chat_id=chat.id, turn_id=self._turn_id) for one in written_facts(text))
        self._projects.change(chat.folder, Project.with_proposed, facts)


def written_facts(text: str) -> list[str]:
    """The model's list, which some write as a block of code; none if it is not whole."""
    try:
        found = json.loads(text[text.find("[") : text.rfind("]") + 1])
    except (ValueError, RecursionError):
        return []
    return [each for each in found if isinstance(each, str)][:MAX_WRITTEN]
