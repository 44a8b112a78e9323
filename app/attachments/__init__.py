"""Extracts the text of untrusted files, to be attached to a message. No Qt.

`FileReading` is the entry point. All else runs in a child process with limits.
"""
