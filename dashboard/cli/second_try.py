"""What fails once is run a second time, alone; what passes then is *unsteady*, and is named.

A suite of thousands of tests that start JVMs and browsers fails now and then for one that a busy
machine tore apart. That must not hide what the others say, and must not pass unseen either.
Why: docs/adr/0018-what-fails-once-is-run-again-alone.md
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

# From this many files on it is no accident: they are broken, and nothing is run again.
MOST_FILES = 6
# pytest's exit codes: 1 says that tests failed; with any other it did not come to its end.
SOME_FAILED = 1


def failed(cache_dirs: Iterable[Path]) -> list[str]:
    """The ids of the tests that failed, from what pytest remembers for `--last-failed`."""
    ids: set[str] = set()
    for each in cache_dirs:
        path = each / "v" / "cache" / "lastfailed"
        if path.exists():
            ids.update(json.loads(path.read_text()))
    return sorted(ids)


def files(ids: Iterable[str]) -> list[str]:
    """Their files: tests of one file may stand on each other, so it is run as a whole."""
    return sorted({test.partition("::")[0] for test in ids})


def is_worth_it(codes: Sequence[int], ids: Sequence[str]) -> bool:
    """Whether pytest came to its end each time, and few enough failed for it to be chance."""
    return bool(ids) and set(codes) <= {0, SOME_FAILED} and len(files(ids)) <= MOST_FILES
