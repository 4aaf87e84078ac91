from dataclasses import dataclass


@dataclass(frozen=True)
class HeavyKey:
    """A key that the job watches (`collectors.watch_keys`), over the last minute.

    `share` is the least part of the rows that had this key, of all rows that passed there, found
    from `sampled_rows` of them. `partition` is the state partition that they go to."""

    columns: str
    key: str
    partition: int
    share: float
    sampled_rows: int
