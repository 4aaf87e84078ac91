"""`curtail bench`: the benchmarks of `benchmarks/`, each a module of three names.

`SUMMARY: str`, `run(quick: bool) -> Mapping[str, object]` and `table(result) -> str`. Summaries
are read without importing, so that listing them costs nothing; a module without one is a helper.
"""

import argparse
import ast
import importlib
import json
import signal
import sys
from contextlib import redirect_stdout
from pathlib import Path

from dashboard.cli.root import ROOT
from dashboard.cli.say import say

UNKNOWN = 2
TERMINATED = 128 + signal.SIGTERM


def run(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="curtail bench", description=__doc__)
    parser.add_argument("name", nargs="?", metavar="NAME", help="which one; without it, lists them")
    parser.add_argument("--quick", action="store_true", help="a short run, to see that it works")
    parser.add_argument("--json", action="store_true", help="the result as the last line of stdout")
    options = parser.parse_args(argv)
    known = summaries(ROOT / "benchmarks")
    if options.name is None:
        print(json.dumps(known) if options.json else _listing(known))
        return 0
    name = options.name.replace("-", "_")
    if name not in known:
        say(f"no benchmark {options.name!r}; there are {', '.join(known) or 'none'}")
        return UNKNOWN
    # Otherwise the processes that it started would keep running.
    signal.signal(signal.SIGTERM, _terminated)
    # Output of a running benchmark is progress and goes to stderr; stdout is for the result.
    with redirect_stdout(sys.stderr):
        benchmark = importlib.import_module(f"benchmarks.{name}")
        result = benchmark.run(quick=options.quick)
    print(json.dumps(result) if options.json else benchmark.table(result), flush=True)
    return 0


def _terminated(*_: object) -> None:
    raise SystemExit(TERMINATED)


def summaries(folder: Path) -> dict[str, str]:
    found = {path.stem: _summary(path) for path in sorted(folder.glob("[!_]*.py"))}
    return {name: summary for name, summary in found.items() if summary is not None}


def _summary(path: Path) -> str | None:
    for node in ast.parse(path.read_text(), str(path)).body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id="SUMMARY")], value=value)
                | ast.AnnAssign(target=ast.Name(id="SUMMARY"), value=ast.expr() as value)
            ):
                return str(ast.literal_eval(value))
    return None


def _listing(known: dict[str, str]) -> str:
    width = max(map(len, known), default=0)
    return "\n".join(f"{name:<{width}}  {summary}" for name, summary in known.items())
