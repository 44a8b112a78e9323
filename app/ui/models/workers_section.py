"""The section of the load settings for workers. GUI thread."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QGridLayout, QHBoxLayout, QLineEdit, QWidget

from app.engine.children.workers import MAX_WORKERS, TRUSTED_ONLY, RemoteWorker, WorkerState
from app.look.buttons import IconButton, dialog_button
from app.look.figures import data_size
from app.look.layouts import STRETCH, drop, hbox, vbox
from app.look.plain_text import PlainLabel, as_tooltip
from app.look.words import tr, tr_said
from app.protocol.errors import InvalidRequestError
from app.protocol.model import Device, DeviceKind
from app.services.preferences import Preferences
from app.services.worker_list import WorkerList

BUTTON_SIDE = 28


class WorkersSection(QWidget):
    """`chosen` are those that get a part of the layers."""

    changed = Signal()  # `chosen` did

    def __init__(
        self, preferences: Preferences, chosen: Sequence[str], parent: QWidget, *, in_use: Sequence[str] = ()
    ) -> None:
        super().__init__(parent)
        self.workers = WorkerList(preferences, self)
        self._chosen: set[str] = set()
        self._rows: dict[str, _Row] = {}
        self._grid = QGridLayout()
        self._grid.setColumnStretch(1, 1)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(4)
        self._empty = PlainLabel(
            tr("None yet. Run “skein worker --host ADDRESS” on another machine, then add its address."),
            self,
            "muted",
            wraps=True,
        )
        self.address = QLineEdit(self)
        self._again = dialog_button(tr("Rescan"), self.workers.refresh, self)
        self._refusal = PlainLabel("", self, "danger", wraps=True)
        warning = PlainLabel(tr_said(TRUSTED_ONLY), self, "muted", wraps=True)
        vbox(self._empty, self._grid, self._foot(), self._refusal, warning, STRETCH, on=self)
        self._refusal.hide()
        self.workers.changed.connect(self._show)
        self.apply(chosen, in_use)

    def apply(self, chosen: Sequence[str], in_use: Sequence[str] = ()) -> None:
        """Workers `in_use` compute for the model that is loaded now."""
        self._chosen = set(chosen)
        self.workers.show(chosen, in_use)

    @property
    def chosen(self) -> tuple[str, ...]:
        return tuple(address for address in self.workers.addresses if address in self._chosen)

    @property
    def devices(self) -> tuple[Device, ...]:
        """The chosen ones with their memory, as far as known."""
        found = ((address, self.workers.found(address)) for address in self.chosen)
        return tuple(
            worker.device if worker else Device(address, "", DeviceKind.GPU) for address, worker in found
        )

    def choose(self, address: str, is_chosen: bool) -> None:
        if is_chosen:
            self._chosen.add(address)
        else:
            self._chosen.discard(address)
        self._show()
        self.changed.emit()

    def _foot(self) -> QHBoxLayout:
        self.address.setPlaceholderText("192.168.1.20:50052")
        self.address.setAccessibleName(tr("Address and port of a worker"))
        self.address.setMinimumWidth(200)
        self.address.returnPressed.connect(self._add)
        self.address.textEdited.connect(self._refusal.hide)
        return hbox(self.address, dialog_button(tr("Add"), self._add, self), STRETCH, self._again)

    @Slot()
    def _add(self) -> None:
        try:
            if len(self.workers.addresses) >= MAX_WORKERS:
                raise InvalidRequestError(tr("At most {number} machines can be used.", number=MAX_WORKERS))
            address = self.workers.add(self.address.text())
        except InvalidRequestError as error:
            self._refusal.say(tr_said(str(error)))
            return
        self.address.clear()
        self.choose(address, True)

    def _remove(self, address: str) -> None:
        if address in self._chosen:  # first, or it would be listed again as one that is chosen
            self._chosen.discard(address)
            self.changed.emit()
        self.workers.remove(address)

    @Slot()
    def _show(self) -> None:
        addresses = self.workers.addresses
        self._empty.setVisible(not addresses)
        self._again.setVisible(bool(addresses))
        for address in [address for address in self._rows if address not in addresses]:
            self._rows.pop(address).close()
        for address in addresses:
            if address not in self._rows:
                self._rows[address] = _Row(self, self._grid, address)
            self._rows[address].apply(
                self.workers.found(address), address in self._chosen, self.workers.is_in_use(address)
            )


class _Row:
    """One worker: whether it is used, its address, its state."""

    def __init__(self, section: WorkersSection, grid: QGridLayout, address: str) -> None:
        self._box = QCheckBox(address, section)
        self._state = PlainLabel("", section)
        self._remove = IconButton("x", tr("Remove {address}", address=address), BUTTON_SIDE, section)
        row = grid.rowCount()
        for column, widget in enumerate((self._box, self._state, self._remove)):
            grid.addWidget(widget, row, column)
        self._state.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._box.toggled.connect(lambda is_chosen: section.choose(address, is_chosen))
        self._remove.clicked.connect(lambda: section._remove(address))

    def apply(self, worker: RemoteWorker | None, is_chosen: bool, is_in_use: bool) -> None:
        self._box.blockSignals(True)
        self._box.setChecked(is_chosen)
        self._box.blockSignals(False)
        is_fine = worker is None or worker.state is WorkerState.READY
        self._state.setText(state_text(worker, is_in_use))
        self._state.set_tone("muted" if is_fine else "warning")
        told = tr_said(worker.refusal) if worker and not is_fine else ""
        self._state.setToolTip(as_tooltip(told))
        self._box.setAccessibleDescription(told or self._state.text())

    def close(self) -> None:
        drop(self._box, self._state, self._remove)


def state_text(worker: RemoteWorker | None, is_in_use: bool) -> str:
    """Short; `RemoteWorker.refusal` tells more."""
    if is_in_use:
        return tr("in use now")
    if worker is None:
        return tr("connecting…")
    match worker.state:
        case WorkerState.READY:
            free, total = data_size(worker.free_bytes), data_size(worker.total_bytes)
            return tr("{free} of {total} free", free=free, total=total)
        case WorkerState.BUSY:
            return tr("busy with another program")
        case WorkerState.OTHER_VERSION:
            return tr("different llama.cpp version")
        case WorkerState.STRANGER:
            return tr("not a worker")
        case WorkerState.UNREACHABLE:
            return tr("unreachable")
