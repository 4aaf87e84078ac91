"""Where each state partition lives: executors by partitions, with what lately moved."""

from collections.abc import Mapping, Sequence

import numpy as np

from techniques.durations import said
from techniques.model import Axis, Cell, Decision, Figure, FigureKind, Grid, Shift
from techniques.state_balancing.cluster import changes, places, present
from techniques.state_balancing.stages import stages
from techniques.view import View

MOST_PARTITIONS = 60
# The least area that can still be seen and pointed at.
SMALLEST = 0.15


def figure(view: View, decision: Decision | None) -> Figure:
    at = places(view)
    tasks = _tasks(view, at)
    shown = sorted(sorted(at, key=lambda each: -tasks[each][0])[:MOST_PARTITIONS])
    rows = _rows(view, at)
    sizes = _sizes(view)
    cells = tuple(
        _cell(rows[at[partition]], column, partition, tasks[partition], sizes)
        for column, partition in enumerate(shown)
    )
    grid = Grid(
        rows=tuple(_label(view, name) for name in rows),
        columns=tuple(str(partition) for partition in shown),
        cells=cells,
        shifts=_shifts(view, rows, shown),
        sizes="bytes of state" if sizes else "",
    )
    return Figure(
        kind=FigureKind.GRID,
        title="State partitions by executor",
        x=Axis("partition"),
        y=Axis("time of its tasks in a batch", "ms"),
        note=_note(len(shown), len(at), len(grid.shifts)),
        grid=grid if shown else None,
    )


def _rows(view: View, at: Mapping[int, str]) -> dict[str, int]:
    """The row of each executor that is there or has a partition: also an empty one is drawn."""
    names = {each.id for each in present(view)} | set(at.values())
    return {name: row for row, name in enumerate(sorted(names, key=_by_number))}


def _by_number(name: str) -> tuple[int, str]:
    return (int(name), "") if name.isdecimal() else (-1, name)


def _label(view: View, name: str) -> str:
    hosts = {each.id: each.host for each in view.executors}
    return f"{name} @ {hosts[name]}" if hosts.get(name) else name


def _tasks(view: View, at: Mapping[int, str]) -> dict[int, tuple[float, float, int]]:
    """Of each partition: the mean time of its tasks in a batch where it is now, their mean sojourn,
    and how many tasks there were."""
    ran: dict[int, dict[int, list[tuple[float, float]]]] = {}
    for stage in stages(view):
        for task in stage.tasks if stage.stateful else ():
            if at[task.partition] == task.executor:
                of_kind = ran.setdefault(task.partition, {}).setdefault(stage.kind, [])
                of_kind.append((task.duration_ms, task.sojourn_ms))
    found = {}
    for partition, by_kind in ran.items():
        duration_ms, sojourn_ms = np.sum(
            [np.mean(each, axis=0) for each in by_kind.values()], axis=0
        )
        count = sum(len(each) for each in by_kind.values())
        found[partition] = (float(duration_ms), float(sojourn_ms), count)
    return found


def _sizes(view: View) -> dict[int, int]:
    """The bytes of each partition's state: the latest of each of its stores, added up."""
    latest: dict[tuple[int, int, str], int] = {}
    told = view.of("state")
    for operator, partition, name, size in zip(
        told.operator.tolist(),
        told.partition.tolist(),
        told.name.tolist(),
        told.input_bytes.tolist(),
        strict=True,
    ):
        if size >= 0:
            latest[operator, partition, name] = size
    found: dict[int, int] = {}
    for (_, partition, _), size in latest.items():
        found[partition] = found.get(partition, 0) + size
    return found


def _cell(
    row: int,
    column: int,
    partition: int,
    tasks: tuple[float, float, int],
    sizes: Mapping[int, int],
) -> Cell:
    duration_ms, sojourn_ms, count = tasks
    most = max(sizes.values(), default=0)
    share = sizes.get(partition, 0) / most if most else 1.0
    says = (
        f"partition {partition}: {said(duration_ms)} in a batch, {said(sojourn_ms)} with the "
        f"wait for a core, {count} tasks"
    )
    if partition in sizes:
        says += f", {sizes[partition] / 1e6:.3g} MB of state"
    return Cell(row, column, duration_ms, max(SMALLEST, share), says)


def _shifts(view: View, rows: Mapping[str, int], shown: Sequence[int]) -> tuple[Shift, ...]:
    """What changed its executor in the view, the newest last."""
    return tuple(
        Shift(
            shown.index(partition),
            rows[moved.source],
            rows[moved.target],
            f"partition {partition} went from executor {moved.source} to {moved.target}, "
            f"{(view.end_ms - moved.at_ms) / 1000:.0f} s ago",
            ago_s=(view.end_ms - moved.at_ms) / 1000,
        )
        for partition, moved in sorted(changes(view).items(), key=lambda each: each[1].at_ms)
        if partition in shown and moved.source in rows
    )


def _note(shown: int, known: int, moved: int) -> str:
    if not known:
        return "No task with state was seen lately."
    some = f"The {shown} of {known} partitions whose tasks take longest. " if shown < known else ""
    if not moved:
        return f"{some}Each partition is where its last task ran; none moved lately."
    return (
        f"{some}Each partition is where its last task ran; {moved} moved in the last two minutes."
    )
