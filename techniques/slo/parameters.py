"""The constants of Henge (section 5), and those that the paper leaves open."""

from dataclasses import dataclass
from enum import StrEnum


class Sizing(StrEnum):
    """How many more instances a congested operator gets (`techniques.slo.sizing`)."""

    HENGE = "henge"
    DS2 = "ds2"


@dataclass(frozen=True)
class Parameters:
    """From the paper: `round_ms`, `settle_ms` (a minute until utilities are quiet again),
    `stable_rounds`, `improvement` (Δ), `drop` (of utility, which ends Converged), `cut` (of
    parallelism in a Reduction), `congested` (operator capacity threshold), `threads` (the 10 of
    equation 4), `blacklist_ms` and `collect_ms` (after data was missing).

    Ours: measured utilities are noisy, so a total that is smaller by less than `tolerance` has not
    fallen (0 in the paper); utilities that change by less than `quiet` from round to round have
    settled, and nobody waits for that longer than `settle_most_ms`; data is missing once it is so
    for `patience_ms`, and a job is gone once it is for `gone_ms`. `utilisation` is what DS2 sizes
    for."""

    round_ms: int = 10_000
    settle_ms: int = 60_000
    settle_most_ms: int = 180_000
    stable_rounds: int = 4
    improvement: float = 0.05
    drop: float = 0.05
    cut: float = 0.8
    congested: float = 0.3
    threads: float = 10.0
    blacklist_ms: int = 3_600_000
    collect_ms: int = 300_000
    tolerance: float = 0.0
    quiet: float = 0.02
    patience_ms: int = 30_000
    gone_ms: int = 60_000
    sizing: Sizing = Sizing.HENGE
    utilisation: float = 0.6
