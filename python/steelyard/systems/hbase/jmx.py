"""One page of a server, asked once; most often a bean of its /jmx."""

from __future__ import annotations

import json
import socket
from typing import Any

from steelyard.hosts.place import Place
from steelyard.watch import http

MASTER = "Hadoop:service=HBase,name=Master,sub=Server"
REGIONSERVER = "Hadoop:service=HBase,name=RegionServer,sub=Server"
REGIONS = "Hadoop:service=HBase,name=RegionServer,sub=Regions"
NAMENODE = "Hadoop:service=NameNode,name=FSNamesystemState"
DATANODE = "Hadoop:service=DataNode,name=DataNodeInfo"
MEMORY = "java.lang:type=Memory"


def bean(web: Place, name: str, timeout_s: float = 5.0) -> dict[str, Any]:
    """The bean's attributes, none while there is no such bean; raises OSError without an answer."""
    try:
        found = json.loads(page(web, f"/jmx?qry={name}", timeout_s))["beans"]
    except (ValueError, KeyError, TypeError) as error:
        raise OSError(f"{web} answered /jmx with what is none") from error
    return dict(found[0]) if found else {}


def page(web: Place, path: str, timeout_s: float = 5.0) -> bytes:
    """What a server answers at a path, whatever its status; raises OSError without an answer."""
    with web.connect(timeout_s) as link:
        link.sendall(http.get(web.address, web.port, path))
        try:
            return _answer(link).body
        except ValueError as error:
            raise OSError(f"{web} answered {path} with what is no page") from error


def _answer(link: socket.socket) -> http.Response:
    got, closed = b"", False
    while (answer := http.response(got, closed=closed)) is None:
        if closed:
            raise ConnectionError("the server closed the connection")
        part = link.recv(65536)
        got, closed = got + part, not part
    return answer
