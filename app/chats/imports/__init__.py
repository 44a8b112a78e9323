"""Imports chats from other programs' files, and from Skein's own. No Qt.

Files are not trusted: sizes, depths and counts are bounded, ids are replaced, and roles, dates and texts are
checked. `read` is the entry point; a module for each program turns its entries into a `Sketch`, and `tree`
makes a Chat of that.
"""
