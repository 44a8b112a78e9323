"""Chats out of other programs' files, and out of Skein's own. No Qt.

Nothing in a file is believed: sizes, depths and counts are bounded, ids are made anew, and roles, dates and
texts are checked. `read` is the door; a module for each program turns its entries into a `Sketch`, and `tree`
makes a Chat of that.
"""
