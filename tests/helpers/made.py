"""The programs of tests/data that make results and studies whose truth is known, as modules."""

from __future__ import annotations

import functools
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

DATA = Path(__file__).parents[1] / "data"


@functools.cache
def maker(name: str) -> ModuleType:
    """`tests/data/NAME.py`, executed once; its folder is on no path."""
    spec = importlib.util.spec_from_file_location(name, DATA / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses look for the module that they are defined in
    spec.loader.exec_module(module)
    return module
