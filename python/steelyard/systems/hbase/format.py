"""A NameNode's empty directory: formatted once for each version of HDFS, copied for each cluster."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from steelyard.errors import InfrastructureError
from steelyard.folders import cache_folder
from steelyard.systems.hbase.config import LOG4J, WEBAPPS, xml
from steelyard.systems.hbase.versions import HDFS

MAIN = "org.apache.hadoop.hdfs.server.namenode.NameNode"
LIMIT_S = 120.0


def empty_namenode(java: Sequence[str], jars: Sequence[Path], into: Path) -> None:
    """Make `into` the directory of a NameNode without files.

    Args:
        java: Java and its options.
        jars: HDFS's jars.
        into: a folder that is not there yet.

    Raises:
        InfrastructureError: HDFS could not format it.
    """
    template = cache_folder() / "servers" / f"hdfs-{HDFS}.namenode"
    template.parent.mkdir(parents=True, exist_ok=True)
    with (template.parent / f".{template.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not template.exists():
            _format(java, jars, template)
    shutil.copytree(template, into)


def _format(java: Sequence[str], jars: Sequence[Path], template: Path) -> None:
    partial = template.with_name(f"{template.name}.partial.{os.getpid()}")
    conf, target = partial / "conf", partial / "namenode"
    try:
        for part in WEBAPPS:
            (conf / part).mkdir(parents=True)
        (conf / "core-site.xml").write_text(xml({"fs.defaultFS": "hdfs://127.0.0.1:8020"}))
        (conf / "hdfs-site.xml").write_text(xml({"dfs.namenode.name.dir": target.as_uri()}))
        (conf / "log4j.properties").write_text(LOG4J)
        options = [f"-Dlog4j.configuration={(conf / 'log4j.properties').as_uri()}"]
        options.append(f"-Dsteelyard.log={partial / 'format.log'}")
        words = [*java, *options, "-cp", ":".join(map(str, [*jars, conf])), MAIN, "-format", "-force"]
        done = subprocess.run(
            [*words, "-nonInteractive"], capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
        if done.returncode or not (target / "current" / "VERSION").exists():
            last = [
                *(partial / "format.log").read_text().splitlines(),
                *done.stderr.splitlines(),
                "no reason",
            ]
            raise InfrastructureError(f"HDFS could not format a NameNode's directory: {last[-2]}")
        target.replace(template)
    except (OSError, subprocess.SubprocessError) as error:
        raise InfrastructureError(f"HDFS could not format a NameNode's directory: {error}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
