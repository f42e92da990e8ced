"""Errors that a user can do something about; the command line shows them without a traceback."""


class KernlearnError(Exception):
    """Base of the errors below. The message says what is wrong, where, and what to do."""


class ConfigError(KernlearnError):
    """A configuration that cannot be run, with every fault found in it."""


class DataError(KernlearnError):
    """A data set that is missing, damaged or not what its card says."""


class PluginError(KernlearnError):
    """A plug-in that cannot be loaded or used."""


class StoreError(KernlearnError):
    """A results store that cannot be opened, read or written."""


class ExecutorError(KernlearnError):
    """An executor that cannot carry out trials here, or not as asked."""


class SelectionError(KernlearnError):
    """A choice of trials that means nothing for the experiment."""


class SummaryError(KernlearnError):
    """Measured numbers in a file that cannot be read, or do not fit what they stand beside."""


class ReportError(KernlearnError):
    """A report that cannot be put together or written."""
