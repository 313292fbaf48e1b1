"""A NameNode's empty directory: formatted once for each version of HDFS, copied for each cluster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from steelyard.hosts.recipes import HERE, Recipe
from steelyard.systems.hbase.config import LOG4J, WEBAPPS, xml
from steelyard.systems.hbase.versions import HDFS

MAIN = "org.apache.hadoop.hdfs.server.namenode.NameNode"


def empty_namenode(java: Sequence[str], jars: Sequence[Path]) -> Recipe:
    """How the directory of a NameNode without files is made, with Java (and its options) and HDFS's jars."""
    return Recipe(
        name=f"hdfs-{HDFS}.namenode",
        what="a NameNode's directory",
        files={
            "conf/core-site.xml": xml({"fs.defaultFS": "hdfs://127.0.0.1:8020"}),
            "conf/hdfs-site.xml": xml({"dfs.namenode.name.dir": f"file://{HERE}/namenode"}),
            "conf/log4j.properties": LOG4J,
            **{f"conf/{part}/empty": "" for part in WEBAPPS},
        },
        words=[
            *java,
            f"-Dlog4j.configuration=file://{HERE}/conf/log4j.properties",
            f"-Dsteelyard.log={HERE}/format.log",
            "-cp",
            ":".join([*map(str, jars), f"{HERE}/conf"]),
            MAIN,
            "-format",
            "-force",
            "-nonInteractive",
        ],
        result="namenode",
        sign="current/VERSION",
        log="format.log",
    )
