"""The analysis as a PySpark job: each job of the archive is a task.

Every task is a Spark job of its own, so that one that fails (its data, its executor) is told and
does not stop the others, and progress can be told job by job.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

from pyspark import SparkContext
from pyspark.sql import SparkSession

from dashboard.history.analysis.job import analyse
from dashboard.history.analysis.report import Report, report
from dashboard.history.analysis.result import Failed, JobAnalysis
from dashboard.history.archive import Archive, Place
from techniques.analysis.effects import Switch

LONGEST_REASON = 300
# A few more than run at once: no core waits for the driver between two tasks.
WAITING_PER_CORE = 2

Progress = Callable[[int, int], None]


def analyse_jobs(
    spark: SparkSession,
    place: Place,
    job_ids: Sequence[str],
    start_ms: int,
    end_ms: int,
    switches: Mapping[str, Sequence[Switch]],
    progress: Progress = lambda _done, _total: None,
) -> Report:
    """Analyses the jobs and tells `progress` how many of how many are done."""
    context = spark.sparkContext
    analysed: list[JobAnalysis] = []
    failed: list[Failed] = []
    progress(0, len(job_ids))
    threads = max(1, min(len(job_ids), WAITING_PER_CORE * context.defaultParallelism))
    with ThreadPoolExecutor(threads, thread_name_prefix="curtail-analyse") as pool:
        running = [
            pool.submit(_run, context, place, job_id, start_ms, end_ms, switches.get(job_id, ()))
            for job_id in job_ids
        ]
        for done, each in enumerate(as_completed(running), 1):
            result = each.result()
            if isinstance(result, Failed):
                failed.append(result)
            else:
                analysed.append(result)
            progress(done, len(job_ids))
    return report(analysed, failed, start_ms, end_ms)


def _run(
    context: SparkContext,
    place: Place,
    job_id: str,
    start_ms: int,
    end_ms: int,
    switches: Sequence[Switch],
) -> JobAnalysis | Failed:
    mine = list(switches)

    def task(job_id: str) -> str:
        return analyse(Archive(place), job_id, start_ms, end_ms, mine).to_json()

    try:
        [told] = context.parallelize([job_id], 1).map(task).collect()
    except Exception as error:
        return Failed(job_id, _why(error))
    return JobAnalysis.from_json(told)


def _why(error: Exception) -> str:
    """The last line of a Python worker's traceback says what happened; Spark's text does not."""
    lines = [line.strip() for line in str(error).splitlines()]
    own = [line for line in lines if ": " in line and not line.startswith(("at ", "File ", "org."))]
    return (own[-1] if own else f"{type(error).__name__}: {error}")[:LONGEST_REASON]
