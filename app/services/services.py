"""All that the window asks for besides answers, in one place. GUI thread."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.bridge.engines import Engines
from app.bridge.io_thread import IoThread
from app.bridge.token_counter import TokenCounter
from app.bridge.workspace import Workspace
from app.engine.children.text_models import TextModels
from app.services.beginning_reader import BeginningReader
from app.services.cell_keeping import CellKeeping
from app.services.chat_backups import ChatBackups
from app.services.chat_library import ChatLibrary, ChatSearch
from app.services.chat_transfer import ChatTransfer
from app.services.comparisons import Comparisons
from app.services.downloads import Downloads
from app.services.draft_offers import DraftOffers
from app.services.form_check import FormCheck
from app.services.local_api import LocalApi
from app.services.model_fits import ModelFits
from app.services.model_hub import ModelHub
from app.services.model_library import ModelLibrary
from app.services.preferences import Preferences
from app.services.presets import Presets
from app.services.projects import Projects
from app.services.self_test import SelfTest
from app.services.servers import Servers
from app.services.shelf_vectors import ShelfVectors
from app.services.shelves import ShelfService
from app.services.tools import ToolService
from app.shelves.finder import ShelfFinder
from app.shelves.index import ShelfIndex
from app.storage.chat_store import ChatStore
from app.system import paths

if TYPE_CHECKING:
    from app.services.rows import RowJobs


class Services:
    def __init__(
        self,
        engine: Engines,
        workspace: Workspace,
        store: ChatStore,
        preferences: Preferences,
        parent: QObject,
    ) -> None:
        self.engine = engine
        self.workspace = workspace
        self.preferences = preferences
        self._io = IoThread()
        index = ShelfIndex(paths.shelf_texts_file())
        text_models = TextModels()
        finder = ShelfFinder(index, text_models)
        shelves_file = paths.shelves_file()
        self.shelves = ShelfService(engine, preferences.settings, shelves_file, index, finder, parent)
        self.model_library = ModelLibrary(preferences, engine, parent)
        library, settings, readers = self.model_library, preferences.settings, workspace.tools.readers
        self.api = LocalApi(engine, library, settings, self._io, parent, self.shelves, readers)
        self.backups = ChatBackups(store, workspace, parent)
        self.self_test = SelfTest(parent)
        self.comparisons = Comparisons(parent)
        self.chat_library = ChatLibrary(store, workspace, parent)
        self.projects = Projects(store, engine, self.chat_library, self.shelves, parent)
        self.search = ChatSearch(store, parent)
        self.transfer = ChatTransfer(workspace, store, self.chat_library, parent)
        self.tools = ToolService(store, preferences, paths.mcp_servers_file(), parent)
        self.tools.drafts = workspace.drafts
        self.presets = Presets(paths.presets_dir(), preferences, parent)
        self.prompt_tokens = TokenCounter(engine, parent)  # of system prompts
        self.form_check = FormCheck(workspace.tools.readers.chat_layer)
        self.schema_tokens = TokenCounter(engine, parent)  # of tools
        self._parent = parent
        self.cells = CellKeeping(engine, workspace, preferences, paths.kept_cells_dir(), parent)
        self.cells.also_wanted = lambda: (*self.shelves.chat_ids, *(one.chat_id for one in self.projects.all))
        sources = (self.shelves.beginnings, self.projects.beginnings)
        self.beginnings = BeginningReader(engine, workspace, sources, settings, parent)
        self.shelf_vectors = ShelfVectors(
            preferences, self.model_library, self.shelves, index, finder, text_models, parent
        )
        self.model_fits = ModelFits(preferences, engine, parent)
        self.draft_offers = DraftOffers(engine, self.model_library, parent)
        self.servers = Servers(preferences, parent)
        self.hub = ModelHub(preferences, parent, engine)
        self.downloads = Downloads(preferences, self.hub.token, self._io, parent)
        self.downloads.finished.connect(self.model_library.refresh)

    @cached_property
    def rows(self) -> RowJobs:
        """Made when it is first asked for, so that the window need not wait for it."""
        from app.services.rows import RowJobs

        chat_layer = self.workspace.tools.readers.chat_layer
        return RowJobs(self.engine, chat_layer, paths.rows_dir(), self._parent)

    async def close(self) -> None:
        """Returns when nothing of theirs runs any more. `cells` closes after the engine."""
        wanted = tuple(self.cells.also_wanted())
        self.cells.also_wanted = lambda: wanted  # the shelves will know of none
        self.model_library.close()
        self.model_fits.close()
        self.hub.close()
        await self.draft_offers.close()
        if "rows" in vars(self):
            await self.rows.close()
        await self.downloads.close()
        await self.self_test.close()
        await self.comparisons.close()
        await self.tools.close()
        await self.shelf_vectors.close()
        await self.shelves.close()
        await self.api.close()
        await self._io.close()
