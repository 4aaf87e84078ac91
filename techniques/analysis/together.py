"""Jobs that share a host and stall together: ShadowSync across jobs, which no job's own view shows.

Each job gives the seconds in which its p99 is raised (`scan`). Stalls of two jobs *meet* if they
begin within two seconds of each other. By chance some always do, more so if both are busy at the
same time of day. So the meetings are counted again with one job's week moved against the other's:
by up to an hour, and by whole days and up to an hour. That keeps the rhythm of both and breaks only
what is between them. The p-value is the share of these moves with as many meetings. All of them are
counted at once by a convolution, and the p-values are corrected for all pairs (Holm).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from techniques.detection import chance
from techniques.intervals import Floats

STEP_MS = 1_000
DAY_S, HOUR_S = 86_400, 3_600
# Stalls begin together within this; seconds of one stall are at most this far from each other.
WITHIN_S, SAME_STALL_S = 2, 5
# Smaller moves than this would leave meetings half in place.
LEAST_MOVE_S = 30
LEVEL = 0.05
# Few meetings are an anecdote, and a small share of a job's stalls explains little.
FEWEST_MEETINGS = 5
LEAST_RATIO, LEAST_SHARE = 3.0, 0.1
EXAMPLES = 5

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Pair:
    """Two jobs of a host: `meetings` of their `stalls`, `expected` by chance. `p_value` is
    corrected for all pairs that were tried; `examples_ms` are the first meetings."""

    host: str
    jobs: tuple[str, str]
    stalls: tuple[int, int]
    meetings: int
    expected: float
    p_value: float
    examples_ms: tuple[int, ...]
    meetings_ms: tuple[int, ...] = ()


@dataclass(frozen=True)
class Group:
    """Jobs of a host that stall together, with the pairs that show it. `elsewhere` are jobs that do
    not run on this host and stall at the same times: with some, the host is not what they share."""

    host: str
    jobs: tuple[str, ...]
    pairs: tuple[Pair, ...]
    elsewhere: tuple[str, ...] = ()


def together(
    hosts: Mapping[str, Sequence[str]], raised: Mapping[str, Mask], start_ms: int
) -> tuple[Group, ...]:
    """`hosts` are the jobs of each host, `raised` has one value per second from `start_ms` on."""
    begins = {job: onsets(mask) for job, mask in raised.items()}
    tried = [
        _pair(host, jobs, begins, start_ms)
        for host, members in sorted(hosts.items())
        for jobs in combinations(sorted(set(members) & begins.keys()), 2)
    ]
    kept = [pair for pair in _holm(tried) if _matters(pair)]
    return tuple(
        group
        for host in sorted(hosts)
        for group in _groups(host, [pair for pair in kept if pair.host == host], hosts, begins)
    )


def onsets(raised: Mask) -> Mask:
    """The seconds in which a stall begins."""
    begins = np.zeros(len(raised), dtype=bool)
    begins[[first for first, _ in chance.spans(raised, SAME_STALL_S)]] = True
    return begins


def meetings(one: Mask, other: Mask) -> tuple[Mask, Floats]:
    """The begins of `one` that meet one of `other`, and the number of meetings for every move that
    chance may make."""
    wide = _widened(other)
    meets = one & wide
    counts = np.fft.irfft(
        np.conj(np.fft.rfft(one.astype(float))) * np.fft.rfft(wide.astype(float)), len(one)
    )
    return meets, np.rint(counts[_moves(len(one))])


def _moves(size: int) -> NDArray[np.int64]:
    """Up to an hour, plus whole days; less if there is less than two hours."""
    most = min(HOUR_S, size // 2)
    near = np.concatenate((np.arange(-most, -LEAST_MOVE_S), np.arange(LEAST_MOVE_S + 1, most)))
    days = np.arange(1, size // DAY_S) * DAY_S
    further = (days[:, None] + np.arange(-most, most)[None, :]).ravel()
    return np.unique(np.concatenate((near, further)) % size).astype(np.int64)


def _widened(mask: Mask) -> Mask:
    wide = mask.copy()
    for by in range(1, WITHIN_S + 1):
        wide[by:] |= mask[:-by]
        wide[:-by] |= mask[by:]
    return wide


def _pair(host: str, jobs: tuple[str, str], begins: Mapping[str, Mask], start_ms: int) -> Pair:
    one, other = (begins[job] for job in jobs)
    meets, moved = meetings(one, other)
    found = int(meets.sum())
    # Without moves (hardly any data) nothing can be said.
    p_value = (1 + int((moved >= found).sum())) / (1 + len(moved)) if found else 1.0
    times = tuple(start_ms + int(at) * STEP_MS for at in np.flatnonzero(meets))
    return Pair(
        host=host,
        jobs=jobs,
        stalls=(int(one.sum()), int(other.sum())),
        meetings=found,
        expected=float(moved.mean()) if len(moved) else 0.0,
        p_value=p_value,
        examples_ms=times[:EXAMPLES],
        meetings_ms=times,
    )


def _holm(pairs: Sequence[Pair]) -> list[Pair]:
    """Corrects the p-values for the number of pairs (Holm 1979) and keeps those below `LEVEL`."""
    kept: list[Pair] = []
    highest = 0.0
    for rank, pair in enumerate(sorted(pairs, key=lambda each: each.p_value)):
        highest = max(highest, min(1.0, pair.p_value * (len(pairs) - rank)))
        if highest > LEVEL:
            break
        kept.append(replace(pair, p_value=highest))
    return kept


def _matters(pair: Pair) -> bool:
    return (
        pair.meetings >= FEWEST_MEETINGS
        and pair.meetings >= LEAST_RATIO * pair.expected
        and pair.meetings >= LEAST_SHARE * max(pair.stalls)
    )


def _groups(
    host: str,
    pairs: Sequence[Pair],
    hosts: Mapping[str, Sequence[str]],
    begins: Mapping[str, Mask],
) -> list[Group]:
    """Pairs that share a job are one group."""
    groups: list[set[str]] = []
    for pair in pairs:
        touching = [group for group in groups if group & set(pair.jobs)]
        groups = [group for group in groups if group not in touching]
        groups.append(set(pair.jobs).union(*touching))
    found = []
    for group in sorted(groups, key=sorted):
        mine = tuple(pair for pair in pairs if set(pair.jobs) <= group)
        strangers = sorted(begins.keys() - set(hosts[host]))
        found.append(Group(host, tuple(sorted(group)), mine, _elsewhere(mine, strangers, begins)))
    return found


def _elsewhere(
    pairs: Sequence[Pair], strangers: Sequence[str], begins: Mapping[str, Mask]
) -> tuple[str, ...]:
    """Jobs of other hosts that stall with the group's first job as its pairs do."""
    job = pairs[0].jobs[0]
    with_job = [(stranger, *meetings(begins[job], begins[stranger])) for stranger in strangers]
    return tuple(
        stranger
        for stranger, meets, moved in with_job
        if meets.sum() >= max(FEWEST_MEETINGS, pairs[0].meetings / 2)
        and (1 + (moved >= meets.sum()).sum()) * len(strangers) <= LEVEL * (1 + len(moved))
    )
