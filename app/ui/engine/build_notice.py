"""What the window says of our own build of llama.cpp while it runs on a borrowed one. GUI thread."""

from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QWidget

from app.look.strip import Offer, Strip
from app.look.words import tr
from app.system.llama_library import BuildState, OwnBuild, is_told, lender, note_told, own_build
from app.ui.base.help_commands import open_folder
from app.ui.base.notices import Notices

LOOK_EVERY_MS = 2000


class BuildNotice(QObject):
    """One banner for each state of the build; a dismissed one does not come back."""

    restart_requested = Signal()

    def __init__(self, notices: Notices, parent: QWidget) -> None:
        super().__init__(parent)
        self._notices = notices
        self._banner: Strip | None = None
        self._state: BuildState | None = None
        self._looks = QTimer(self, interval=LOOK_EVERY_MS)
        self._looks.timeout.connect(self._look)
        if lender():
            self._looks.start()

    @Slot()
    def _look(self) -> None:
        build = own_build()
        if build is None:
            return
        if build.state is not self._state:
            self._state = build.state
            self._show(build)
        elif self._banner:
            self._banner.reword(_text(build))

    def _show(self, build: OwnBuild) -> None:
        if self._banner:
            self._banner.dismiss()
        offers = []
        match build.state:
            case BuildState.READY:
                self._looks.stop()
                offers = [Offer(tr("&Restart now"), self.restart_requested.emit)]
            case BuildState.FAILED:
                if is_told(build.error):
                    return
                note_told(build.error)
                offers = [Offer(tr("Show log"), partial(open_folder, build.log), can_be_left=True)]
        self._banner = self._notices.show_note(_text(build), *offers)
        self._banner.dismissed.connect(self._on_dismissed)

    @Slot()
    def _on_dismissed(self) -> None:
        self._banner = None


def _text(build: OwnBuild) -> str:
    match build.state:
        case BuildState.READY:
            return tr(
                "Skein's own build of llama.cpp is ready: several chats at once are about twice as fast."
            )
        case BuildState.FAILED:
            return tr(
                "Skein could not compile its own llama.cpp. {reason} All goes on with {name}.",
                reason=build.error,
                name=lender(),
            )
        case BuildState.STOPPED:
            return tr(
                "Skein's own build of llama.cpp was stopped. It goes on when packaging/run starts Skein."
            )
    left = (
        tr("about {number} min left", number=build.minutes_left)
        if build.minutes_left
        else tr("it has just begun")
    )
    return tr(
        "Skein compiles its own llama.cpp in the background, {left}. With it, several chats at once are "
        "about twice as fast.",
        left=left,
    )
