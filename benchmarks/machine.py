"""Where a benchmark was run, as part of its result."""

import os
import platform
import subprocess
import time
from pathlib import Path

import pyspark


def machine(load_before: float) -> dict[str, object]:
    java = subprocess.run(["java", "-version"], capture_output=True, text=True).stderr
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "cpu": _cpu_name(),
        "cores": os.cpu_count(),
        "memory_gb": round(memory_bytes / 2**30, 1),
        "load_before": round(load_before, 2),
        "spark": pyspark.__version__,
        "java": java.partition('"')[2].partition('"')[0],
        "python": platform.python_version(),
    }


def _cpu_name() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
