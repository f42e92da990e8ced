"""Configs: what they may say, read and checked."""
