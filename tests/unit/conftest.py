"""Fixtures that several files of unit tests use."""

import signal

from engine_fixtures import fake_engine

__all__ = ["fake_engine"]

# An ignored SIGHUP (under nohup) would be handed on to every program that the tests start and stop with it.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
