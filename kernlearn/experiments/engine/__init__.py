"""Trials: planned, chosen, carried out."""
