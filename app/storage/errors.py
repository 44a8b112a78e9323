"""Storage errors, with messages for the user."""


class StorageError(Exception):
    """Something was not read or not written; the message says what to do about it."""


class DatabaseDamagedError(StorageError):
    """The file exists but is not a readable database."""


class NewerSchemaError(StorageError):
    """A later Skein wrote it; this one must not touch it."""
