"""`curtail up`: migrate, then the server and the worker, on the Redis and database given."""

import argparse
import os
from functools import partial

from dashboard.cli import answers, ports, programs, reach
from dashboard.cli.say import say
from dashboard.cli.supervise import Supervisor
from dashboard.cli.supervise import run as supervise
from dashboard.masking import masked

WRONG_ENVIRONMENT = 2
ANSWER_S = 60


def run(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="curtail up", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    parser.add_argument("--port", type=int, default=8000, help="port (%(default)s)")
    options = parser.parse_args(argv)

    from dashboard import environment

    try:
        found = environment.read()
        found.data_dir.mkdir(parents=True, exist_ok=True)
        reach.redis(found.redis_url)
        reach.database(os.environ.get("DATABASE_URL") or f"sqlite:///{found.database['NAME']}")
    except (environment.EnvironmentFault, reach.Unreachable) as fault:
        say(masked(str(fault)))
        return WRONG_ENVIRONMENT
    except OSError as error:
        say(f"CURTAIL_DATA_DIR: {error.filename} cannot be written: {error.strerror}")
        return WRONG_ENVIRONMENT
    if not ports.is_free(options.port, options.host):
        say(f"{options.host}:{options.port} is in use or not ours; choose another with --port")
        return WRONG_ENVIRONMENT

    env = programs.environ(os.environ)

    async def plan(supervisor: Supervisor) -> None:
        await supervisor.finish(programs.manage(env, "migrate", "--no-input"))
        operator = programs.manage(env, "ensure_operator", "--if-no-users")
        for line in await supervisor.finish(operator):
            print(line, flush=True)
        await supervisor.start(programs.server(env, options.host, options.port))
        await supervisor.start(programs.worker(env, found.data_dir))
        local = answers.local(options.host)
        await answers.wait_for(partial(answers.http, local, options.port), "the server", ANSWER_S)
        say(f"listening on http://{local}:{options.port}/")

    return supervise(plan)
