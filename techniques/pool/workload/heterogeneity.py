"""Artificial heterogeneity, the cause of the latency tails that the papers' techniques cut.

`Heterogeneous` wraps an operator of a pool: it costs what a chunk's rows say, some instances are
        times = self.slow.get(own, 1.0)
        work_s = us * times / 1e6
        began_s = time.monotonic()
        spend(work_s, self.burn)
        if self.pauses is not None:
            stood_still_s = self.pauses.end_s(began_s, work_s) - time.monotonic()
            spend(stood_still_s, burn=False)
        called_s = time.perf_counter()
        result = self.operator(batch)
        if self.slow_operator and times > 1:
            spend((time.perf_counter() - called_s) * (times - 1), self.burn)
        return result

    def _hang_if_due(self, every_s: float, hang_s: float) -> None:
        """Hangs before the first chunk that comes `every_s` after the last hang began."""
        now_s = time.monotonic()
        if self._hang_at_s is None:
            self._hang_at_s = now_s + every_s
        if now_s >= self._hang_at_s:
            self._hang_at_s = now_s + every_s
            time.sleep(hang_s)


@dataclass
class Stamped:
    """Adds a column with the time (CLOCK_MONOTONIC) at which the work on the chunk began."""

    operator: Operator

    @property
    def __name__(self) -> str:
        return str(getattr(self.operator, "__name__", type(self.operator).__name__))

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        began_ns = time.monotonic_ns()
        made = self.operator(batch)
        return made.append_column(BEGAN, pa.array([began_ns] * made.num_rows, pa.int64()))


def spend(seconds: float, burn: bool) -> None:
    if not burn:
        if seconds > 0:
            time.sleep(seconds)
        return
    end_s = time.perf_counter() + seconds
    while time.perf_counter() < end_s:
        pass


def skewed_us(
    count: int, least_us: float, most_us: float, seed: int = 0, shape: float = 1.0
) -> NDArray[np.int64]:
    """Costs between two bounds with a heavy tail (bounded Pareto): most are cheap, few are not."""
    if not 0 < least_us < most_us or shape <= 0:
        raise ValueError(f"no skew between {least_us} and {most_us} with shape {shape}")
    uniform = np.random.default_rng(seed).uniform(size=count)
    ratio = (least_us / most_us) ** shape
    drawn = least_us / (1 - uniform * (1 - ratio)) ** (1 / shape)
    costs: NDArray[np.int64] = np.clip(drawn, least_us, most_us).astype(np.int64)
    return costs
