"""The parsers of the kernel's files, on samples captured from real machines (tests/data/watch)."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.watch import cgroup, host, machine, proc

DATA = Path(__file__).parent.parent / "data" / "watch"
GROUP_V1 = {name: DATA / "cgroup_v1" / name for name in ("cpu", "cpuacct", "memory", "blkio")}
GROUP_V2 = {"unified": DATA / "cgroup_v2"}


def text(name: str) -> str:
    return (DATA / name).read_text()


def read_group(folders: dict[str, Path]) -> tuple[dict[str, float], dict[str, str]]:
    failed: dict[str, str] = {}
    values = cgroup.read_group(
        folders, lambda path: Path(path).read_text(), lambda what, error: failed.update({what: str(error)})
    )
    return values, failed


def test_process_stat() -> None:
    stat = proc.parse_stat(text("stat_process"))
    assert (stat.user_s, stat.system_s) == (0.05, 0.03)
    assert stat.started_ticks == 544438
    assert stat.resident_bytes == 11039 * proc.PAGE_BYTES
    assert stat.state == "S"


def test_a_process_name_may_hold_blanks_and_parentheses() -> None:
    stat = proc.parse_stat(text("stat_process").replace("(python3)", "(a) b (c d)"))
    assert stat.user_s == 0.05


def test_a_short_stat_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 22 were expected"):
        proc.parse_stat("1 (x) S 0 0")


def test_process_io_takes_cancelled_writes_off() -> None:
    assert proc.parse_io(text("io_process")) == (20971520, 20992000)
    assert proc.parse_io("read_bytes: 1\nwrite_bytes: 10\ncancelled_write_bytes: 4\n") == (1, 6)


def test_pressure_is_in_seconds() -> None:
    stalled = proc.parse_pressure(
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=1500000\nfull avg10=0 total=250\n"
    )
    assert stalled == {"some": 1.5, "full": 0.00025}


def test_group_of_version_1() -> None:
    values, failed = read_group(GROUP_V1)
    assert not failed
    assert values["cpu_seconds_total"] == pytest.approx(0.4, abs=0.3)
    assert values["cpu_user_seconds_total"] <= values["cpu_seconds_total"]
    assert values["cpu_throttled_seconds_total"] == 1.586017730
    assert (values["cpu_periods_total"], values["cpu_throttled_periods_total"]) == (33, 29)
    assert values["memory_bytes"] == 38486016
    assert values["memory_charged_bytes"] == 38912000
    assert values["page_cache_bytes"] == 0
    assert (values["disk_reads_total"], values["disk_writes_total"]) == (40, 23)
    assert "disk_read_bytes_total" not in values  # those are the processes' own


def test_group_of_version_2() -> None:
    values, failed = read_group(GROUP_V2)
    assert not failed
    assert values["cpu_user_seconds_total"] + values["cpu_system_seconds_total"] == pytest.approx(
        values["cpu_seconds_total"], abs=1e-5
    )
    assert "cpu_throttled_seconds_total" not in values  # the cpu controller was not on
    assert values["memory_bytes"] == 52428800 + 4194304
    assert values["page_cache_bytes"] == 8388608
    assert values["disk_read_bytes_total"] == 20971520 + 4096
    assert (values["disk_reads_total"], values["disk_writes_total"]) == (21, 44)
    assert values["pressure_cpu_some_seconds_total"] > 0


def test_throttling_of_version_2() -> None:
    values = cgroup.cpu_v2(
        "usage_usec 5\nuser_usec 3\nsystem_usec 2\nnr_periods 4\nnr_throttled 1\nthrottled_usec 2500000\n"
    )
    assert values["cpu_throttled_seconds_total"] == 2.5
    assert values["cpu_throttled_periods_total"] == 1


def test_both_versions_side_by_side_complete_each_other() -> None:
    values, failed = read_group(GROUP_V1 | GROUP_V2)
    assert not failed
    assert values["memory_bytes"] == 38486016  # the memory controller is in version 1 here
    assert values["disk_reads_total"] == 40
    assert "pressure_io_full_seconds_total" in values
    assert "cpu_throttled_seconds_total" in values


def test_operations_are_unknown_until_the_kernel_counts_them() -> None:
    with pytest.raises(ValueError, match="only where an I/O limit has been set"):
        cgroup.operations_v1("Total 0\n")


def test_what_a_group_lacks_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    values, failed = read_group({"cpu": DATA / "cgroup_v1/cpu", "memory": tmp_path})
    assert values["cpu_periods_total"] == 33
    assert "No such file" in failed["memory"]


def test_machine_cpu() -> None:
    values = machine.cpu("cpu  100 50 30 1000 20 5 5 7 3 0\ncpu0 1 2 3\n")
    assert values == pytest.approx(
        {
            "cpu_seconds_total": 1.9,
            "cpu_user_seconds_total": 1.5,
            "cpu_system_seconds_total": 0.4,
            "cpu_iowait_seconds_total": 0.2,
            "cpu_steal_seconds_total": 0.07,
            "cpu_idle_seconds_total": 10.0,
        }
    )
    assert machine.cpu(text("proc_stat"))["cpu_idle_seconds_total"] > 0
    with pytest.raises(ValueError, match="a line `cpu`"):
        machine.cpu("intr 1\n")


def test_machine_memory_disk_network() -> None:
    assert 0 < machine.memory(text("meminfo"))["memory_bytes"] < 25e9
    all_disks = machine.disks(text("diskstats"), {"vda"})
    assert all_disks["disk_reads_total"] > 0
    assert all_disks["disk_read_bytes_total"] % 512 == 0
    assert machine.disks(text("diskstats"), {"loop0"})["disk_reads_total"] == 0
    everything = machine.network(text("net_dev"), loopback=True)
    outside = machine.network(text("net_dev"), loopback=False)
    assert everything["network_send_bytes_total"] > outside["network_send_bytes_total"] > 0


def test_partitions_and_loops_are_not_counted_beside_their_disk(tmp_path: Path) -> None:
    (tmp_path / "vda" / "device").mkdir(parents=True)
    (tmp_path / "loop0").mkdir()
    (tmp_path / "dm-0").mkdir()
    assert machine.whole_disks(tmp_path) == {"vda"}


def test_processors_of_one_name_are_told_apart_by_their_numbers() -> None:
    name = "processor\t: 0\ncpu family\t: 25\nmodel\t\t: {}\nmodel name\t: AMD EPYC\nstepping\t: 1\n"
    assert host.processor(name.format(1)) == "AMD EPYC (family 25, model 1, stepping 1)"
    assert host.processor(name.format(17)) != host.processor(name.format(1))
    assert host.processor("model name\t: Neoverse-N1\n") == "Neoverse-N1"


def test_host_parsers() -> None:
    assert host.cpuinfo_field("processor\t: 0\nmodel name\t: A: B\n", "model name") == "A: B"
    with pytest.raises(KeyError, match="no flags"):
        host.cpuinfo_field("", "flags")
    assert host.meminfo_bytes(text("meminfo"), "SwapTotal") == 0
    assert host.chosen("always [madvise] never") == "madvise"
    assert host.chosen("none") == "none"
    assert host.cgroup_version("cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n") == "v2"
    assert host.cgroup_version("a /x cgroup rw 0 0\nb /y cgroup2 rw 0 0\n") == "hybrid"


def test_the_mount_of_a_path_is_the_nearest_and_the_newest() -> None:
    mounts = "/dev/a / ext4 rw 0 0\n/dev/b /data xfs rw 0 0\n/dev/c /data btrfs ro 0 0\n"
    mounts += "/dev/d /my\\040disk ext4 rw 0 0\n"
    assert host.mount_of(Path("/data/x"), mounts) == ("/dev/c", "/data", "btrfs", "ro")
    assert host.mount_of(Path("/database"), mounts)[0] == "/dev/a"
    assert host.mount_of(Path("/my disk/x"), mounts)[0] == "/dev/d"
    with pytest.raises(ValueError, match="no mounted file system"):
        host.mount_of(Path("/x"), "")
