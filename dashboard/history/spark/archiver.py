"""The archiver as a PySpark job: jobs in groups, each group a task that runs a round.

Every group is a Spark job of its own, so that one that fails (its executor was lost too often, its
worker ran out of memory) does not cancel the others.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

from pyspark import SparkContext
from pyspark.sql import SparkSession

from dashboard.history.archive import Place
from dashboard.history.group import archive_group, grouped
from dashboard.history.told import Told

# A few more than cores: the cores stay busy although jobs differ, and progress can be told.
GROUPS_PER_CORE = 4
LONGEST_REASON = 300


def archive_jobs(
    spark: SparkSession,
    redis_url: str,
    place: Place,
    job_ids: Sequence[str],
    progress: Callable[[str], None] = lambda _line: None,
) -> Told:
    context = spark.sparkContext
    groups = grouped(job_ids, GROUPS_PER_CORE * context.defaultParallelism)
    told, done = Told(), 0
    # A waiting thread per group; Spark runs as many of them at a time as there are cores.
    with ThreadPoolExecutor(max(1, len(groups)), thread_name_prefix="curtail-archive") as pool:
        running = [pool.submit(_run, context, redis_url, place, group) for group in groups]
        for each in as_completed(running):
            told += each.result()
            done += 1
            progress(f"{done} of {len(groups)} groups of jobs: {told.line()}")
    return told


def _run(context: SparkContext, redis_url: str, place: Place, job_ids: list[str]) -> Told:
    def task(group: list[str]) -> Told:
        return archive_group(redis_url, place, group)

    try:
        [told] = context.parallelize([job_ids], 1).map(task).collect()
    except Exception as error:
        why = " ".join(f"{type(error).__name__}: {error}".split())[:LONGEST_REASON]
        return Told(jobs=len(job_ids), failures=dict.fromkeys(job_ids, why))
    return told
