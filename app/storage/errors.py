"""What can go wrong with the disk, in words for the person at the screen."""


class StorageError(Exception):
    """Something was not read or not written; the message says what to do about it."""


class DatabaseDamagedError(StorageError):
    """The file is there but is not a database that can be read."""


class NewerSchemaError(StorageError):
    """A later Skein wrote it; this one must not touch it."""
