"""Errors that a user can do something about; the command line shows them without a traceback."""


class KernlearnError(Exception):
    """Base of the errors below. The message says what is wrong, where, and what to do."""


class ConfigError(KernlearnError):
    """A configuration that cannot be run, with every fault found in it."""


class DataError(KernlearnError):
    """A data set that is missing, damaged or not what its card says."""


class StoreError(KernlearnError):
    """A results store that cannot be opened, read or written."""
