"""What a detector returns: data that a person can check. Controllers decide what to do."""

from dataclasses import dataclass, field

from techniques.model import Advice, Evidence


@dataclass(frozen=True)
class Finding:
    """`p_value` is the probability of such data without the cause; `added_ms` is the latency that
    the cause adds at its peaks. `spans_ms` are the occurrences, oldest first."""

    kind: str
    title: str
    spans_ms: tuple[tuple[int, int], ...]
    p_value: float
    added_ms: float
    explanation: str
    evidence: tuple[Evidence, ...] = ()
    operators: tuple[int, ...] = ()
    executors: tuple[str, ...] = ()
    period_ms: float | None = None
    technique: str | None = None
    first: Advice | None = None  # what to do before using the technique
    table: tuple[dict[str, float | int | str], ...] = field(default=())

    @property
    def onset_ms(self) -> int:
        return self.spans_ms[0][0]

    @property
    def end_ms(self) -> int:
        return self.spans_ms[-1][1]

    @property
    def next_expected_ms(self) -> int | None:
        return None if self.period_ms is None else round(self.spans_ms[-1][0] + self.period_ms)
