"""Every property of YCSB that is known, and those that are taken but mean nothing here."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.errors import nearest
from steelyard.spec.properties import Properties
from steelyard.spec.ycsb_file import CORE_WORKLOAD, NO_EQUIVALENT

OWN = "steelyard."
"""What begins with it is a setting of a study: `steelyard.load.engines=4`."""

CLIENT = (
    "status", "status.interval", "label", "db", "exporter", "exportfile",
    "reportlatencyforeacherror", "latencytrackederrors", "measurementtype", "measurement.interval",
    "hdrhistogram.percentiles", "hdrhistogram.fileoutput", "hdrhistogram.output.path",
    "measurement.histogram.verbose", "histogram.buckets", "timeseries.granularity",
    "measurement.raw.output_file", "measurement.raw.no_summary",
)  # fmt: skip
CQL = (
    "port", "keyspace", "username", "password", "readconsistencylevel", "writeconsistencylevel",
    "maxconnections", "coreconnections", "connecttimeoutmillis", "readtimeoutmillis", "tracing", "useSSL",
)  # fmt: skip
BINDINGS = (
    "hosts", "port", "scylla.hosts", "scylla.local_dc", "scylla.lwt",
    *(f"{prefix}.{name}" for prefix in ("cassandra", "scylla") for name in CQL),
    "columnfamily", "clientbuffering", "writebuffersize", "durability", "principal", "keytab",
    "hbase.usepagefilter", "hbase.usescanvaluefiltering", "hbase.scanfilteroperator", "hbase.scanfiltervalue",
    "hbase.zookeeper.quorum", "hbase.zookeeper.property.clientPort", "zookeeper.znode.parent",
    "hbase.client.bootstrap.servers",
    "basicdb.verbose", "basicdb.simulatedelay", "basicdb.randomizedelay",
)  # fmt: skip

IGNORED = {
    "dotransactions": "load and run say it",
    "spin.sleep": "the engine waits with a timer that is 20 us exact",
    "measurement.trackjvm": "there is no JVM; system.parquet of the result has the engine's memory and CPU",
    "debug": "the result folder has what was done",
    "cassandra.tracing": "tracing would change what is measured",
    "scylla.tracing": "tracing would change what is measured",
    "cassandra.connecttimeoutmillis": "connecting has limits of its own",
    "scylla.connecttimeoutmillis": "connecting has limits of its own",
    "hbase.usepagefilter": "a scan's length is sent with it",
    "maxscanrate": "YCSB does not read it either",
    "scanoptimelimit": "YCSB does not read it either",
    "discardscannedrecord": "YCSB does not read it either",
    "core_workload_insertion_retry_interval": "attempts are 1 to 100 ms apart",
    "core_workload_insertion_keep_going_on_error": "a load goes on and counts its failures",
    "readallfieldsbyname": "every field is always read by name",
}
"""Property -> why it changes nothing."""

KNOWN = frozenset({*CORE_WORKLOAD, *NO_EQUIVALENT, *CLIENT, *BINDINGS, *IGNORED})


def modern(name: str) -> str:
    """A Java class by its present name: before 0.17 YCSB lived in another package."""
    return name.replace("com.yahoo.ycsb.", "site.ycsb.")


def remarks(p: Properties) -> Iterator[str]:
    """What is to be said of properties that change nothing, and of unknown ones, which YCSB ignores, too."""
    for name, said in p.found.items():
        if name in IGNORED and said.value.lower() != "false":
            yield f"{said.origin}: {name} changes nothing: {IGNORED[name]}"
        elif name not in KNOWN and not name.startswith((OWN, "htrace.")):
            yield f"{said.origin}: unknown property '{name}' is ignored{nearest(name, KNOWN)}"
