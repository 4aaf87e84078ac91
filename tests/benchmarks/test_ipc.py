"""What the benchmark of transports makes of its turns, and that every transport delivers."""

import importlib.util

import numpy as np
import pytest

from benchmarks import ipc
from benchmarks.ipc_cell import Cell, Outcome, measured
from benchmarks.ipc_transports import RING, WAYS
from dashboard.cli.bench import summaries
from dashboard.cli.root import ROOT


def outcome(*latencies_us: float, took_s: float = 1.0) -> Outcome:
    return Outcome(np.array(latencies_us), took_s)


def cell(**p50_us: float) -> dict[str, object]:
    return {
        "size_bytes": 256,
        "rate_per_s": 100,
        "producers": 1,
        "transports": {
            name: {"p50_us": value, "p99_us": 2 * value, "msgs_per_s": 100.0}
            for name, value in p50_us.items()
        },
    }


def test_percentiles_are_those_of_all_turns_together() -> None:
    found = ipc.summary([outcome(1, 2, 3), outcome(101, 102, 103, took_s=3.0)])
    assert found == {"p50_us": 52.0, "p99_us": 103.0, "msgs_per_s": 1.0}


def test_ratios_are_the_rings_by_the_others_over_all_cells() -> None:
    cells = [
        cell(ring=10, tcp=100, unix=20, queue=40, iceoryx2=10),
        cell(ring=20, tcp=40, unix=10, queue=50, iceoryx2=10),
        cell(ring=30, tcp=3000, unix=60, queue=50, iceoryx2=20),
    ]
    assert ipc.compared(cells) == {
        "vs_tcp_worst": 0.5,
        "vs_tcp_best": 0.01,
        "vs_unix_worst": 2.0,
        "vs_queue_worst": 0.6,
        "vs_iceoryx2_median": 1.5,
    }


def test_a_transport_that_was_left_out_has_no_ratio() -> None:
    found = ipc.compared([cell(ring=10, tcp=100, unix=20, queue=40)])
    assert found["vs_iceoryx2_median"] is None
    assert found["vs_tcp_worst"] == 0.1


def test_a_missing_package_is_said_and_its_transport_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "zmq" else found(name)
    )
    monkeypatch.setattr(ipc, "QUICK", ipc.Plan([Cell(256, 1_000, 1)], turns=1, turn_s=0.02))
    result = ipc.run(quick=True)
    assert result["left_out"] == ["zeromq"]
    assert "zeromq is left out: zmq is not installed" in capsys.readouterr().err
    shown = ipc.table(result)
    assert "1 of 32" in shown
    assert "256 B, 1000/s, 1" in shown
    assert "zeromq" not in shown


def test_the_full_run_has_every_size_rate_and_number_of_producers() -> None:
    assert len(set(ipc.FULL.cells)) == 4 * 4 * 2
    assert set(ipc.QUICK.cells) < set(ipc.FULL.cells)


@pytest.mark.parametrize("way", WAYS)
def test_every_transport_delivers_all_that_was_sent(way: str) -> None:
    found = measured(WAYS[way], Cell(10_000, 2_000, 4), seconds=0.05)
    # 25 of each producer, but for the tenth that warms up.
    assert len(found.latencies_us) == 90
    assert found.latencies_us.min() > 0


def test_flat_out_a_message_is_due_when_its_producer_comes_to_it() -> None:
    found = measured(WAYS[RING], Cell(256, None, 1), seconds=0.05)
    assert len(found.latencies_us) > 100


def test_it_is_listed() -> None:
    assert "ipc" in summaries(ROOT / "benchmarks")
    assert not {"ipc_cell", "ipc_transports"} & summaries(ROOT / "benchmarks").keys()
