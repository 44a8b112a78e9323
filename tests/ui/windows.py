"""The main window, for tests: one place that knows what it is made of."""

from typing import Any

from app.services.preferences import Preferences
from app.services.services import Services
from app.settings.settings import Settings
from app.storage.chat_store import ChatStore
from app.system import paths
from app.ui.frame import Frame
from app.ui.main_window import MainWindow
from app.ui.tabs.chat_view import ChatView
from tests.ui.fakes import FakeEngine, FakePresets, FakeTokenCounter, FakeWorkspace


def new_window(engine: Any, workspace: Any, store: ChatStore, settings: Settings) -> MainWindow:
    frame = Frame()
    return MainWindow(frame, Services(engine, workspace, store, Preferences(settings, frame), frame))


def scripted_window(
    engine: Any, workspace: Any, settings: Settings, frame: Frame | None = None, **others: Any
) -> MainWindow:
    """What is not among `others` serves an engine and a workspace where nothing happens."""
    frame = frame or Frame()
    idle: Any = (FakeEngine(), FakeWorkspace())
    services = Services(*idle, ChatStore(paths.chats_file()), Preferences(settings, frame), frame)
    scripted = {
        "engine": engine,
        "workspace": workspace,
        "presets": FakePresets(),
        "prompt_tokens": FakeTokenCounter(frame),
        "schema_tokens": FakeTokenCounter(frame),
    }
    for name, service in (scripted | others).items():
        assert hasattr(services, name)
        setattr(services, name, service)
    return MainWindow(frame, services)


def opened(session: Any) -> ChatView:
    """The page of a chat alone."""
    return ChatView(session)
