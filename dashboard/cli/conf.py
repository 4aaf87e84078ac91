"""`curtail conf`: the options that instrument a job, for `spark-submit $(curtail conf) job.py`."""

import argparse
import shlex

from dashboard.cli.say import say
from dashboard.masking import masked

FAILED = 1
USAGE = 2
REDIS_URL = "redis://127.0.0.1:6379/0"


def run(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="curtail conf", description=__doc__)
    parser.add_argument(
        "--redis", default=REDIS_URL, help="Redis the driver ships to (%(default)s)"
    )
    parser.add_argument("--job", help="name on the dashboard; the application's own otherwise")
    options = parser.parse_args(argv)

    from collectors.spark.build import BuildFault
    from collectors.spark.conf import spark_submit_options

    try:
        words = spark_submit_options(options.redis, options.job)
    except ValueError as error:
        say(masked(str(error)))
        return USAGE
    except BuildFault as fault:
        # Nothing on stdout: `spark-submit $(curtail conf) job.py` then runs the job unmeasured.
        say(f"this job runs unseen: {fault}")
        return FAILED
    print(shlex.join(words))
    return 0
