"""Steelyard: a benchmark laboratory for distributed wide-column databases."""
