"""What is said of shelves and their files. Pure functions."""

from pathlib import Path

from app.attachments.refusal import Reason
from app.look.figures import count, data_size, percent, tokens
from app.look.plain_text import short_path
from app.look.words import sentences, tr, tr_n, tr_said
from app.services.beginning_reader import Reading
from app.services.shelves import ShelfState
from app.shelves.scan import MAX_FILES
from app.shelves.shelf import FileState, ShelfFile
from app.ui.base.attachment_words import refusal_text


def contents_text(state: ShelfState, kept_bytes: int) -> str:
    """How much it is."""
    unread = sum(one.state is FileState.UNREADABLE for one in state.files)
    parts = [
        tr_n("{n} file", "{n} files", len(state.files)),
        tokens(state.num_tokens) if state.num_tokens is not None else "",
        tr_n("{n} waiting", "{n} waiting", state.num_waiting) if state.num_waiting else "",
        tr_n("{n} unreadable", "{n} unreadable", unread) if unread else "",
        tr("{size} of cells on disk", size=data_size(kept_bytes)) if kept_bytes else "",
    ]
    return " · ".join(part for part in parts if part)


def use_text(state: ShelfState, reading: Reading, room: int, *, is_whole: bool, is_kept: bool) -> str:
    """What chats have of it with the open model, which has `room` tokens; 0: none is open."""
    if not state.is_known:
        return tr("Looking for files…")
    if not state.is_there:
        return tr("The folder is missing. What was read from it stays in use.")
    if not state.num_chars:
        return "" if state.num_waiting else tr("Nothing to read here yet.")
    if not room:
        return tr("Open a model to see whether it fits.")
    if is_whole:
        share = percent(state.num_tokens or 0, room)
        fits = tr("Fits: {share} of the model's context, read before each chat.", share=share)
        return sentences(fits, reading_text(reading), "" if is_kept else _not_kept())
    searched = tr("Does not fit the model's context: it is searched for each message.")
    cut = tr("Only the first {number} files are used.", number=count(MAX_FILES)) if state.is_cut else ""
    return sentences(searched, cut)


def vectors_text(progress: tuple[int, int] | None, trouble: str) -> str:
    """How it is searched besides by words: passages with a vector, and all; or what is wrong."""
    if trouble:
        return tr_said(trouble)
    if progress is None or not progress[1]:
        return ""
    num_done, num_all = progress
    if num_done >= num_all:
        return tr("Searched by words and vectors.")
    return tr("Computing vectors in the background: {share}.", share=percent(num_done, num_all))


def reading_text(reading: Reading) -> str:
    if reading.is_whole:
        return tr("New chats begin with it at once.")
    if not reading.num_tokens:
        return tr("It is computed while nothing else runs.")
    share = percent(reading.num_held, reading.num_tokens)
    return tr("Computed while nothing else runs: {share}.", share=share)


def _not_kept() -> str:
    return tr("It is computed again after a restart, because cells are not kept between starts.")


def place_text(state: ShelfState) -> str:
    """Where its files are."""
    return short_path(Path(state.shelf.folder)) if state.shelf.folder else tr("Chosen files")


def state_text(file: ShelfFile) -> str:
    match file.state:
        case FileState.READ:
            return tr("Read")
        case FileState.WAITING:
            return tr("Changed, waiting") if file.num_chars else tr("Waiting")
    return refusal_text(file.name, Reason(file.reason))


def about_tokens(state: ShelfState, file: ShelfFile) -> int:
    """Estimated from the whole shelf's tokens for each character; a quarter where none are counted."""
    per_char = state.num_tokens / state.num_chars if state.num_tokens and state.num_chars else 1 / 4
    return round(file.num_chars * per_char)
