"""The models that an empty chat offers: a file, a download, models of other programs.

Hidden until these are known. GUI thread.
"""

from PySide6.QtCore import QSize, Qt, Signal, SignalInstance
from PySide6.QtWidgets import QBoxLayout, QPushButton, QWidget

from app.look.quiet_button import quiet_button
from app.look.words import tr, tr_n

SPACE = 4


class ModelOffers(QWidget):
    """Side by side where there is room, else below each other."""

    open_requested = Signal()
    download_requested = Signal()
    library_requested = Signal()  # with the models of other programs

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.open_button = self._button(tr("Open a GGUF file…"), self.open_requested)
        self.download_button = self._button(tr("Download a model that fits…"), self.download_requested)
        self.others_button = self._button("", self.library_requested)
        self.buttons = (self.open_button, self.download_button, self.others_button)
        self._layout = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(SPACE)
        self._layout.addStretch(1)
        for button in self.buttons:
            self._layout.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)
        self._layout.addStretch(1)

    def apply(self, *, can_download: bool, num_of_others: int) -> None:
        use_theirs = tr_n(
            "Use the {n} model other programs have", "Use the {n} models other programs have", num_of_others
        )
        self.open_button.show()
        self.download_button.setVisible(can_download)
        self.others_button.setText(use_theirs)
        self.others_button.setVisible(num_of_others > 0)

    def fit(self, room: int) -> int:
        """Arranges them in this width; returns the number of rows."""
        shown = [button for button in self.buttons if not button.isHidden()]
        is_wide = sum(button.sizeHint().width() + SPACE for button in shown) <= room
        direction = QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom
        self._layout.setDirection(direction)
        return 1 if is_wide else len(shown)

    def minimumSizeHint(self) -> QSize:
        """Side by side they would keep the chat from becoming narrow."""
        return QSize(0, super().minimumSizeHint().height())

    def _button(self, text: str, requested: SignalInstance) -> QPushButton:
        button = quiet_button(text, self)
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.clicked.connect(requested)
        button.hide()
        return button
