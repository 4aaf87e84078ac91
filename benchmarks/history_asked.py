"""How long a person waits for a day of a job, and for the analysis of a week."""

import json
import time
import urllib.request

from redis import Redis

from benchmarks.freshness import log_in, wait_for_job
from benchmarks.history_archived import folder
from collectors.formats.announcement import Announcement, to_hash
from collectors.process.shipper import write_announcement
from dashboard.history.archive import Archive, Place
from dashboard.history.spark.analysis import analyse_jobs
from dashboard.history.spark.session import session
from dashboard.testing.generated_week import START_MS, Week
from dashboard.testing.stack import stack

DAY_MS = 86_400_000


def day_opened_ms(answers: int) -> list[float]:
    """The first answer of a server that has just started, then the others."""
    week = Week(jobs=1, days=2, planted=False)
    with folder() as place:
        week.write(Archive(Place(str(place))))
        with stack(CURTAIL_ARCHIVE=str(place)) as running:
            job_id = week.job_ids[0]
            _announce(running.redis.url, job_id)
            cookie = log_in(running)
            wait_for_job(running, cookie, job_id)
            asked = f"start_ms={START_MS}&end_ms={START_MS + DAY_MS}"
            url = f"{running.url}/api/v1/jobs/{job_id}/history?{asked}"
            return [_answered_ms(url, cookie) for _ in range(answers)]


def analysed_s(jobs: int, days: int, turns: int) -> dict[int, list[float]]:
    """Seconds by the number of cores, without the start of Spark."""
    # Of few jobs there are no two to plant a meeting in.
    week = Week(jobs=jobs, days=days, planted=jobs > max(Week().stalling))
    taken_s: dict[int, list[float]] = {1: [], 2: []}
    with folder() as name:
        place = Place(str(name))
        week.write(Archive(place))
        for turn in range(turns):
            for cores in (1, 2) if turn % 2 == 0 else (2, 1):
                with session("curtail-bench", f"local[{cores}]") as spark:
                    began_s = time.monotonic()
                    analyse_jobs(spark, place, week.job_ids, START_MS, week.end_ms, {})
                    taken_s[cores].append(time.monotonic() - began_s)
    return taken_s


def _announce(redis_url: str, job_id: str) -> None:
    now_ms = int(time.time() * 1000)
    client = Redis.from_url(redis_url)
    pipeline = client.pipeline(transaction=False)
    said = Announcement(job_id, "week", "job", "run", "app-1", "4.3.0", "node", now_ms, now_ms)
    write_announcement(pipeline, to_hash(said))
    pipeline.execute()
    client.close()


def _answered_ms(url: str, cookie: str) -> float:
    began_s = time.monotonic()
    request = urllib.request.Request(url, headers={"Cookie": cookie})
    with urllib.request.urlopen(request, timeout=60) as response:
        answer = json.load(response)
    taken_ms = (time.monotonic() - began_s) * 1000
    if len(answer["t"]) < DAY_MS // 60_000:
        raise RuntimeError(f"{len(answer['t'])} minutes of a day: {answer['incomplete']}")
    return taken_ms
