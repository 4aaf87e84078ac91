"""The verbs of `./curtail`: one file each, imported only when asked for.

Nothing here imports Django or Redis, so that `curtail conf` runs where only the collector is
installed, and `curtail --help` where nothing is.
"""

import importlib
import sys

from dashboard.cli.say import say

VERBS = {
    "demo": "everything on this machine: Redis, server, worker and two example jobs",
    "up": "the server side alone, with REDIS_URL and DATABASE_URL of the environment",
    "archive": "keeps windows for weeks: moves them from Redis to the archive, on Spark",
    "test": "format, lint, types, import rules and tests",
    "bench": "the benchmarks: what there is, or one of them",
    "analyze": "weeks of archived history: changes, jobs that stall together, what recurs",
    "conf": "the options that instrument a job of spark-submit",
}
# Exit code for wrong usage; 1 means that the command was tried and failed.
USAGE = 2
INTERRUPTED = 130


def main(argv: list[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else argv
    if not words or words[0] in ("-h", "--help", "help"):
        print(usage())
        return 0
    verb, *rest = words
    if verb not in VERBS:
        say(f"no such verb: {verb!r}; there are {', '.join(VERBS)}")
        return USAGE
    try:
        code = importlib.import_module(f"dashboard.cli.{verb}").run(rest)
    except KeyboardInterrupt:
        return INTERRUPTED
    assert isinstance(code, int)
    return code


def usage() -> str:
    lines = [f"  {verb:<8} {summary}" for verb, summary in VERBS.items()]
    return "\n".join(
        [
            "usage: curtail VERB [options]",
            "",
            *lines,
            "",
            "curtail VERB --help says more.",
        ]
    )
