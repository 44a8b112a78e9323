"""Files of strangers turned into text that a message can carry. No Qt.

`FileReading` is the door. All else runs in a child process with limits.
"""
