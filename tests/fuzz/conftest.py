"""Hostile input is tried away from the user's cache, data and current folder."""

from tests.isolated import no_real_folders

__all__ = ["no_real_folders"]
