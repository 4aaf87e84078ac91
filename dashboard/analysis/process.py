"""Starts an analysis as a process of its own: a worker must never hold a JVM, nor wait for one."""

import subprocess
import sys

from dashboard.analysis import analyses
from dashboard.cli.root import ROOT


def start(analysis_id: int) -> None:
    """Returns at once; the process keeps the record. It stays in the worker's process group, so it
    ends with the worker."""
    words = [sys.executable, "-m", "dashboard.cli", "analyze", "--id", str(analysis_id)]
    try:
        subprocess.Popen(words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    except OSError as error:
        analyses.fail(analysis_id, f"its process cannot be started: {error}")
