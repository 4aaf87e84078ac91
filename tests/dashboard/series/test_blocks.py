from dashboard.series.blocks import blocks
from techniques.effect import BLOCK_MS
from tests.factories import START_MS, frame

PER_BLOCK = BLOCK_MS // 50


def test_what_a_run_completed_while_it_warmed_up_is_in_no_block() -> None:
    warm_up = [frame(at, (9_000,), warming_up=True) for at in range(PER_BLOCK + 3)]
    steady = [frame(at, (40,)) for at in range(PER_BLOCK + 3, 2 * PER_BLOCK)]
    [block] = blocks([*warm_up, *steady])
    assert block.start_ms == START_MS + BLOCK_MS
    assert block.count == len(steady)
    assert block.p999 < 50
