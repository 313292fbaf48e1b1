"""Fixtures that several files of unit tests use."""

from engine_fixtures import fake_engine

__all__ = ["fake_engine"]
