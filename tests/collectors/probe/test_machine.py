"""Machine metrics: each source reads what the kernel writes, and their sums are the kernel's."""

import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from collectors.formats.metrics import BY_NAME
from tests.collectors.conftest import probe
from tests.collectors.metrics_recorder import NAMES, MetricsRecorder, jvm, recorded_spark
from tests.waiting import until

pytestmark = [pytest.mark.spark, pytest.mark.quiet]

WINDOW_S = 0.05
# At the host, until one of its cores is left over.
LOOKS = 10
TICKS_PER_S = os.sysconf("SC_CLK_TCK")

MOUNTS = """\
23 1 254:0 / / rw,relatime - ext4 /dev/vda rw
31 23 0:28 / {root} rw,relatime - tmpfs tmpfs rw,mode=755
33 31 0:30 {begins} {root}/cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct
41 31 0:38 {begins} {root}/unified rw,relatime - cgroup2 cgroup2 rw
"""

NET_DEV = """\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop
    lo: 1050385707  534187    0    0    0     0          0         0 1050385707  534187    0    0
  eth0:{eth_in} 673606    0    0    0     0          0         0 {eth_out}  229814    0    0    0
 veth1: {veth_in} 673606    0    0    0     0          0         0 {veth_out}  229814    0    0    0
"""


@pytest.fixture(scope="module")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> MetricsRecorder:
    return MetricsRecorder(tmp_path_factory.mktemp("machine"))


@pytest.fixture(scope="module")
def spark(recorder: MetricsRecorder) -> Iterator[SparkSession]:
    with recorded_spark(recorder) as session:
        yield session


def path(spark: SparkSession, of: Path) -> Any:
    return jvm(spark).java.io.File(str(of)).toPath()


def sampled(source: Any) -> Mapping[str, int]:
    metrics = source.sample()
    found = [metrics.apply(at) for at in range(metrics.size())]
    return {NAMES[metric.id()]: metric.value() for metric in found}


def test_host_cpu_is_the_busy_share_of_the_ticks_since_the_last_look(
    spark: SparkSession, tmp_path: Path
) -> None:
    stat = tmp_path / "stat"
    stat.write_text("cpu  100 0 50 800 50 0 0 0 7 7\ncpu0 1 2 3\n")
    source = probe(spark).HostCpu(path(spark, stat))
    stat.write_text("cpu  104 0 51 804 51 1 0 0 9 9\ncpu0 1 2 3\n")
    assert sampled(source) == {"host_cpu": 545}


def test_host_cpu_waits_until_there_are_enough_ticks(spark: SparkSession, tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text("cpu  100 0 0 800 0 0 0 0 0 0\n")
    source = probe(spark).HostCpu(path(spark, stat))
    stat.write_text("cpu  102 0 0 800 0 0 0 0 0 0\n")
    assert sampled(source) == {}
    stat.write_text("cpu  102 0 0 802 0 0 0 0 0 0\n")
    assert sampled(source) == {"host_cpu": 500}


def test_the_run_queue_is_without_the_one_who_looks(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "loadavg").write_text("3.16 3.80 3.79 5/259 395\n")
    source = probe(spark).RunQueue(path(spark, tmp_path / "loadavg"))
    assert sampled(source) == {"host_runnable": 4}


def test_pressure_is_the_time_waited_since_the_last_look(
    spark: SparkSession, tmp_path: Path
) -> None:
    io, line = tmp_path / "io", "{} avg10=0.04 avg60=0.26 avg300=1.18 total={}\n"
    io.write_text(line.format("some", 58_531_557) + line.format("full", 22_937_635))
    full = jvm(spark).scala.Some(BY_NAME["psi_io_full_us"].id)
    source = probe(spark).Pressure(path(spark, io), BY_NAME["psi_io_some_us"].id, full)
    io.write_text(line.format("some", 58_541_557) + line.format("full", 22_937_735))
    assert sampled(source) == {"psi_io_some_us": 10_000, "psi_io_full_us": 100}


def cgroups(spark: SparkSession, folder: Path, group: str, begins: str = "/") -> Any:
    self, mounts = folder / "self", folder / "mountinfo"
    self.write_text(f"9:name=systemd:/\n2:cpu,cpuacct:{group}\n0::{group}\n")
    mounts.write_text(MOUNTS.format(root=folder, begins=begins))
    return probe(spark).Cgroup(path(spark, self), path(spark, mounts))


@pytest.mark.parametrize("begins", ["/", "/docker/abc"])
def test_container_cpu_is_counted_by_cgroup_v2(
    spark: SparkSession, tmp_path: Path, begins: str
) -> None:
    folder = tmp_path / "unified" / ("docker/abc" if begins == "/" else "")
    folder.mkdir(parents=True)
    (folder / "cgroup.type").write_text("domain\n")
    stat = folder / "cpu.stat"
    stat.write_text("usage_usec 5000\nuser_usec 1\nnr_throttled 3\nthrottled_usec 70\n")
    source = probe(spark).ContainerCpu(cgroups(spark, tmp_path, "/docker/abc", begins))
    stat.write_text("usage_usec 6234\nuser_usec 1\nnr_throttled 3\nthrottled_usec 90\n")
    assert sampled(source) == {"container_cpu_us": 1234, "container_throttled_us": 20}


def test_container_cpu_is_counted_by_cgroup_v1(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "cpuacct" / "pod"
    folder.mkdir(parents=True)
    (folder / "cpuacct.usage").write_text("5000999\n")
    (folder / "cpu.stat").write_text("nr_periods 1\nnr_throttled 3\nthrottled_time 1000\n")
    source = probe(spark).ContainerCpu(cgroups(spark, tmp_path, "/pod"))
    (folder / "cpuacct.usage").write_text("6234000\n")
    (folder / "cpu.stat").write_text("nr_periods 1\nnr_throttled 3\nthrottled_time 21000\n")
    assert sampled(source) == {"container_cpu_us": 1234, "container_throttled_us": 20}


def test_the_root_of_the_cgroups_is_no_container(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("cpuacct", "unified"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "cpu.stat").write_text("usage_usec 5000\n")
    (tmp_path / "cpuacct" / "cgroup.sane_behavior").write_text("0\n")
    cgroup = cgroups(spark, tmp_path, "/")
    assert cgroup.v2().isEmpty()
    assert cgroup.v1("cpuacct").isEmpty()


def disk_line(name: str, read: int, written: int) -> str:
    return f" 254       0 {name} 203875 18606 {read} 369454 394808 322905 {written} 366696 0 1 2\n"


def test_disk_bytes_are_those_of_whole_devices(spark: SparkSession, tmp_path: Path) -> None:
    stats, block = tmp_path / "diskstats", tmp_path / "block"
    for name in ("vda", "nvme0n1"):
        (block / name / "device").mkdir(parents=True)
    (block / "dm-0").mkdir()

    def write(read: int, written: int) -> None:
        names = ("loop0", "vda", "vda1", "nvme0n1", "dm-0")
        stats.write_text("".join(disk_line(name, read, written) for name in names))

    write(read=1000, written=2000)
    source = probe(spark).Disks.source(path(spark, stats), path(spark, block))
    write(read=1001, written=2010)
    assert sampled(source) == {"disk_read_bytes": 2 * 512, "disk_written_bytes": 20 * 512}


def test_a_disk_that_comes_does_not_bring_what_it_ever_wrote(
    spark: SparkSession, tmp_path: Path
) -> None:
    stats, block = tmp_path / "diskstats", tmp_path / "block"
    for name in ("vda", "vdb"):
        (block / name / "device").mkdir(parents=True)
    stats.write_text(disk_line("vda", 10, 10))
    source = probe(spark).Disks.source(path(spark, stats), path(spark, block))
    stats.write_text(disk_line("vda", 11, 11) + disk_line("vdb", 10**9, 10**9))
    assert sampled(source) == {}
    stats.write_text(disk_line("vda", 12, 12) + disk_line("vdb", 10**9, 10**9))
    assert sampled(source) == {"disk_read_bytes": 512, "disk_written_bytes": 512}


def test_a_disk_in_anothers_place_does_not_bring_what_it_ever_wrote_either(
    spark: SparkSession, tmp_path: Path
) -> None:
    stats, block = tmp_path / "diskstats", tmp_path / "block"
    for name in ("vda", "vdb", "vdc"):
        (block / name / "device").mkdir(parents=True)
    stats.write_text(disk_line("vda", 10, 10) + disk_line("vdb", 10, 10))
    source = probe(spark).Disks.source(path(spark, stats), path(spark, block))
    stats.write_text(disk_line("vda", 11, 11) + disk_line("vdc", 10**9, 10**9))
    assert sampled(source) == {}
    stats.write_text(disk_line("vda", 12, 12) + disk_line("vdc", 10**9, 10**9))
    assert sampled(source) == {"disk_read_bytes": 512, "disk_written_bytes": 512}


def test_a_table_of_many_pages_is_read_to_its_end(spark: SparkSession, tmp_path: Path) -> None:
    stats, block = tmp_path / "diskstats", tmp_path / "block"
    (block / "vda" / "device").mkdir(parents=True)
    loops = "".join(disk_line(f"loop{number}", 1, 1) for number in range(500))
    stats.write_text(loops + disk_line("vda", 10, 10))
    source = probe(spark).Disks.source(path(spark, stats), path(spark, block))
    stats.write_text(loops + disk_line("vda", 20, 12))
    assert sampled(source) == {"disk_read_bytes": 5120, "disk_written_bytes": 1024}


@pytest.mark.parametrize(("cards", "counted"), [(["eth0"], 1000), ([], 3000)])
def test_network_bytes_are_those_of_the_cards_or_in_a_container_of_all_but_loopback(
    spark: SparkSession, tmp_path: Path, cards: list[str], counted: int
) -> None:
    dev, net = tmp_path / "dev", tmp_path / "net"
    for name in ("lo", "eth0", "veth1"):
        (net / name).mkdir(parents=True)
    for name in cards:
        (net / name / "device").mkdir()
    # Old kernels write no space behind the colon when the number is long.
    dev.write_text(NET_DEV.format(eth_in=14_010_214_290, eth_out=50, veth_in=7, veth_out=8))
    source = probe(spark).Network.source(path(spark, dev), path(spark, net))
    dev.write_text(NET_DEV.format(eth_in=14_010_215_290, eth_out=1050, veth_in=2007, veth_out=2008))
    assert sampled(source) == {"network_received_bytes": counted, "network_sent_bytes": counted}


def test_process_cpu_moves_with_the_threads_within_what_the_ticks_allow(
    spark: SparkSession,
) -> None:
    ms = 1_000_000
    estimate = probe(spark).CpuEstimate(100 * ms)
    assert estimate.advance(100 * ms, 3 * ms) == 103 * ms
    assert estimate.advance(100 * ms, 30 * ms) == 120 * ms
    assert estimate.advance(110 * ms, 4 * ms) == 124 * ms
    assert estimate.advance(190 * ms, 1 * ms) == 190 * ms
    assert estimate.advance(194 * ms + 1, 1 * ms) == 194 * ms + 1


def test_an_amount_is_shared_out_over_the_windows_of_one_look_and_a_level_is_not(
    spark: SparkSession,
) -> None:
    assert probe(spark).Metric(5, 900, True).over(3).value() == 300
    assert probe(spark).Metric(1, 900, False).over(3).value() == 900


def test_what_a_host_does_not_have_is_left_out(spark: SparkSession, tmp_path: Path) -> None:
    nothing, garbage = tmp_path / "nothing", tmp_path / "garbage"
    garbage.write_text("what is this\n")
    with pytest.raises(Exception, match="NoSuchFile"):
        probe(spark).RunQueue(path(spark, nothing))
    with pytest.raises(Exception, match=r"IndexOutOfBounds|no counters"):
        probe(spark).Safepoints(path(spark, garbage))
    assert sampled(probe(spark).HostCpu(path(spark, garbage))) == {}
    assert sampled(probe(spark).RunQueue(path(spark, garbage))) == {}
    assert sampled(probe(spark).Disks.source(path(spark, garbage), path(spark, tmp_path))) == {}


def process_ticks(pid: int) -> int:
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return int(after_name[11]) + int(after_name[12])


def host_ticks() -> tuple[int, int]:
    ticks = [int(word) for word in Path("/proc/stat").read_text().split()[1:9]]
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)


@contextmanager
def busy(spark: SparkSession) -> Iterator[None]:
    """One task that computes for as long as it is let."""

    def spin() -> None:
        # Cancelled in the end, which is an error to Spark.
        with pytest.raises(Exception, match="cancel"):
            spark.range(0, 10**15, 1, 1).selectExpr("sum(hash(id))").collect()

    context = spark.sparkContext
    thread = threading.Thread(target=spin)
    thread.start()
    until(lambda: context.statusTracker().getActiveJobsIds(), timeout_s=60)
    try:
        yield
    finally:
        context.cancelAllJobs()
        thread.join(60)
        assert not thread.is_alive()


def windows_of(
    recorder: MetricsRecorder, began_s: float, ended_s: float
) -> list[Mapping[str, int]]:
    first, last = int(began_s / WINDOW_S), int(ended_s / WINDOW_S) - 1
    return until(lambda: recorder.metrics(first, last))


def test_process_and_host_cpu_add_up_to_the_kernels_count(
    spark: SparkSession, recorder: MetricsRecorder
) -> None:
    until(recorder.parts)
    pid = jvm(spark).java.lang.ProcessHandle.current().pid()
    with busy(spark):
        began_s, ticks, (host_busy, host_all) = time.time(), process_ticks(pid), host_ticks()
        until(lambda: process_ticks(pid) - ticks > 4 * TICKS_PER_S, timeout_s=120)
        ended_s, used = time.time(), process_ticks(pid) - ticks
        now_busy, now_all = host_ticks()
    metrics = windows_of(recorder, began_s, ended_s)
    counted_s = sum(window["process_cpu_us"] for window in metrics) / 1e6
    # Who looks at both may lose its core in between.
    assert counted_s == pytest.approx(used / TICKS_PER_S, rel=0.1)
    shares = [window["host_cpu"] for window in metrics if "host_cpu" in window]
    share = 1000 * (now_busy - host_busy) / (now_all - host_all)
    assert sum(shares) / len(shares) == pytest.approx(share, abs=50)
    assert {window["process_cores"] for window in metrics} == {len(os.sched_getaffinity(0))}


def test_host_cpu_is_what_the_kernel_counts_also_where_a_core_is_left_over(
    spark: SparkSession, recorder: MetricsRecorder
) -> None:
    def looked_at() -> tuple[float, float]:
        """Over two seconds of one busy thread, the kernel's share and ours, in thousandths."""
        began_s, (busy, total) = time.time(), host_ticks()
        until(lambda: sum(range(10**5)) and time.time() > began_s + 2, every_s=0)
        ended_s, (now_busy, now_total) = time.time(), host_ticks()
        windows = windows_of(recorder, began_s, ended_s)
        shares = [window["host_cpu"] for window in windows if "host_cpu" in window]
        return 1000 * (now_busy - busy) / (now_total - total), sum(shares) / len(shares)

    until(recorder.parts)
    # A share of less than everything tells more. Other programs may want the rest all the time.
    for _ in range(LOOKS):
        looked = looked_at()
        if looked[0] < 900:
            break
    share, seen = looked
    assert seen == pytest.approx(share, abs=40)
    assert seen > 900 / (os.cpu_count() or 1)


def test_what_is_written_and_synced_is_seen_on_the_disk(
    spark: SparkSession, recorder: MetricsRecorder, tmp_path: Path
) -> None:
    seen = until(recorder.parts)[-1].metrics
    on_a_disk = os.major(tmp_path.stat().st_dev) != 0 and any(Path("/sys/block").glob("*/device"))
    if not on_a_disk:
        # In some containers there is none to see, and then there must be no number either.
        assert seen.get(BY_NAME["disk_written_bytes"].id, 0) == 0
        return
    began_s = time.time()
    with open(tmp_path / "file", "wb") as file:
        file.write(os.urandom(16 << 20))
        file.flush()
        os.fsync(file.fileno())
    metrics = windows_of(recorder, began_s, time.time() + WINDOW_S)
    assert sum(window["disk_written_bytes"] for window in metrics) >= 16 << 20


def test_a_collection_shows_in_the_heap_and_holds_all_threads(
    spark: SparkSession, recorder: MetricsRecorder
) -> None:
    began_s = time.time()
    for _ in range(3):
        jvm(spark).java.lang.System.gc()
    metrics = windows_of(recorder, began_s, time.time() + WINDOW_S)
    assert sum(window["safepoint_us"] for window in metrics) > 0
    last = metrics[-1]
    assert 0 < last["heap_after_gc_bytes"] < last["heap_max_bytes"]
    assert last["heap_max_bytes"] == jvm(spark).java.lang.Runtime.getRuntime().maxMemory()
