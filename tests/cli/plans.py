"""Runs a plan of small programs under a real supervisor, in a process a test can signal.

    python -m tests.cli.plans LIMITS_JSON name=command name=command …

Each command is a line of shell; its `$FOLDER` is the test's own. A name that ends in `!` is run to
its end before the next one starts; a digit before it is its stage.
"""

import json
import os
import sys

from dashboard.cli.child import Program
from dashboard.cli.supervise import Limits, Supervisor, run


def main(limits: str, *programs: str) -> int:
    async def plan(supervisor: Supervisor) -> None:
        for text in programs:
            name, _, command = text.partition("=")
            stage, argv = int(name[0]) if name[0].isdigit() else 1, ("/bin/sh", "-c", command)
            program = Program(name.strip("!0123456789"), argv, os.environ, stage=stage)
            if name.endswith("!"):
                print(await supervisor.finish(program), flush=True)
            else:
                await supervisor.start(program)
        print("all started", flush=True)

    return run(plan, Limits(**json.loads(limits)))


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
