import psutil

from collectors.process import footprint


def test_the_cpu_of_this_process_rises_as_it_works() -> None:
    before_us = footprint.cpu_us()
    while footprint.cpu_us() - before_us < 20_000:
        sum(range(1_000))
    times = psutil.Process().cpu_times()
    assert abs(footprint.cpu_us() / 1e6 - times.user - times.system) < 0.1


def test_its_resident_memory_is_what_the_kernel_says() -> None:
    seen = footprint.resident_bytes()
    assert seen
    assert abs(seen - psutil.Process().memory_info().rss) < 16 * 1024 * 1024
