"""Which machine this is, and which of its pid namespaces: where a recorded process can be judged."""

from __future__ import annotations

import platform
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from steelyard.hosts import process

MACHINE_ID = Path("/etc/machine-id")
PID_NAMESPACE = Path("/proc/self/ns/pid")


@dataclass(frozen=True)
class Machine:
    """Where something was started.

    Attributes:
        hostname: the machine's name, or the container's.
        machine_id: of /etc/machine-id; empty where there is none. Containers of one image may share it.
        boot_id: the boot, of the kernel that all containers of a machine share.
        pid_namespace: inode of the namespace in which pids are told.
    """

    hostname: str
    machine_id: str
    boot_id: str
    pid_namespace: int

    def is_here(self) -> bool:
        """Whether processes recorded there are seen from here under the same pids."""
        here = this_machine()
        return (self.boot_id, self.pid_namespace) == (here.boot_id, here.pid_namespace)

    def has_rebooted(self) -> bool:
        """Whether this is that machine, booted anew: none of its processes runs any more."""
        here = this_machine()
        same = (self.hostname, self.machine_id) == (here.hostname, here.machine_id)
        return bool(self.machine_id) and same and self.boot_id != here.boot_id


@cache
def this_machine() -> Machine:
    """Where this process runs."""
    machine_id = ""
    with suppress(OSError):
        machine_id = MACHINE_ID.read_text().strip()
    return Machine(platform.node(), machine_id, process.boot_id(), PID_NAMESPACE.stat().st_ino)
