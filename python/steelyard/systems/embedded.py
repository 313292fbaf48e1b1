"""The embedded store: a directory of this host, which lives in the engine's own process."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from steelyard.errors import InfrastructureError
from steelyard.hosts.say import Say
from steelyard.spec.system import EmbeddedSystem
from steelyard.systems.null import NullTestbed


class EmbeddedTestbed(NullTestbed):
    """A store in a directory: the one given, which stays, or a temporary one, which does not.

    Args:
        system: path, sync, fresh.
        root: where a temporary directory is made; it must be a disk, not memory.
    """

    def __init__(self, system: EmbeddedSystem, *, root: Path) -> None:
        super().__init__(system)
        self._root = root
        self._temporary: Path | None = None

    def up(self, say: Say) -> None:
        """Make the directory; the engine opens the store."""
        try:
            if self.system.path is None:
                self._root.mkdir(parents=True, exist_ok=True)
                self._temporary = Path(tempfile.mkdtemp(prefix="embedded-", dir=self._root))
            else:
                self.system.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InfrastructureError(f"cannot make the store's directory: {error}") from error
        say(f"embedded store in {self.path}")

    def down(self, say: Say) -> None:  # noqa: ARG002 - nothing worth a line
        """Remove a temporary directory."""
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)
            self._temporary = None

    @property
    def path(self) -> Path:
        """The store's directory; raises InfrastructureError before `up`."""
        path = self.system.path or self._temporary
        if path is None:
            raise InfrastructureError("the embedded store is not up")
        return path.absolute()

    def driver(self) -> dict[str, Any]:
        """The embedded driver on its directory."""
        return {
            "kind": "embedded",
            "path": str(self.path),
            "sync": self.system.sync,
            "fresh": self.system.fresh,
        }

    def facts(self) -> dict[str, Any]:
        """Where the store is, and when a write is safe."""
        synced = "acknowledged after the journal was synced to disk (fsync)"
        buffered = (
            "acknowledged from memory: the operating system writes the journal; a power cut loses the latest"
        )
        return {
            "kind": "embedded",
            "path": str(self.path),
            "temporary": self._temporary is not None,
            "deviations": [],
            "durability": synced if self.system.sync else buffered,
        }
