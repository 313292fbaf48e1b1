"""Fixtures that several files of unit tests use."""

import signal

from engine_fixtures import fake_engine
from hypothesis import HealthCheck, settings

__all__ = ["fake_engine"]

# A busy machine holds up a test now and then: how long one takes says nothing of what it tests.
settings.register_profile("steelyard", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steelyard")

# An ignored SIGHUP (under nohup) would be handed on to every program that the tests start and stop with it.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
