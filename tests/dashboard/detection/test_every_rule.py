"""Every rule from end to end: a collector's bytes → Redis → history → rule → incident."""

from dataclasses import replace

import pytest
from redis import Redis

from collectors.formats import activity, keys, wire
from collectors.formats.announcement import to_hash
from collectors.process.shipper import write_announcement, write_entry
from dashboard.detection.rounds import Detection
from dashboard.fleet import jobs
from dashboard.models import Incident
from dashboard.series.history import History, only
from dashboard.store.redis import RedisStore
from dashboard.testing.stack import RedisServer
from dashboard.worker.histories import Histories
from dashboard.worker.job_leases import Leases
from dashboard.worker.needs import reads_of_all
from techniques.detection import RULES
from techniques.registry import Registry
from tests.factories import ANNOUNCEMENT, announcement
from tests.techniques.detection import sent
from tests.techniques.detection.traces import PLANTED, START_MS, Setting, trace

JOB = ANNOUNCEMENT.job_id
# Redis hands out two thousand entries at once: all of it comes in one round.
SECONDS = 95
RETENTION_MS = 600_000


def send(redis: RedisServer, setting: Setting) -> int:
    """As the collector writes it; tells when it ended."""
    frames, ended = sent.entries(trace(setting))
    now_ms = START_MS + setting.seconds * 1000
    client = Redis.from_url(redis.url)
    pipeline = client.pipeline(transaction=False)
    write_announcement(pipeline, to_hash(announcement(heartbeat_ms=now_ms)))
    for stream, entries in ((keys.frames(JOB), frames), (keys.activities(JOB), ended)):
        for at_ms, payload in entries:
            write_entry(pipeline, stream, at_ms, payload, RETENTION_MS)
    pipeline.execute()
    client.close()
    return now_ms


def look(redis: RedisServer, now_ms: int) -> None:
    """One round of a worker that reads what all rules and controllers need and nothing else."""
    jobs.record([ANNOUNCEMENT])
    histories = Histories(reads_of_all(Registry()))
    Detection(Leases("a worker"), histories).round(RedisStore(redis.url), now_ms)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", RULES)
def test_what_a_collector_sends_opens_an_incident_of_every_kind(
    kind: str, redis: RedisServer
) -> None:
    look(redis, send(redis, replace(PLANTED[kind], seconds=SECONDS)))

    (incident,) = Incident.objects.filter(job_id=JOB, kind=kind)
    assert incident.state == Incident.State.OPEN
    assert incident.technique == (RULES[kind].TECHNIQUE or "")
    names = [fact["name"] for fact in incident.evidence["facts"]]
    assert any(name.startswith("p-value: ") for name in names)


@pytest.mark.django_db(transaction=True)
def test_what_a_healthy_collector_sends_opens_none(redis: RedisServer) -> None:
    look(redis, send(redis, Setting(seconds=SECONDS, pool_backlogs=(3, 3, 3, 3))))

    assert not Incident.objects.exists()


@pytest.mark.parametrize("kind", RULES)
def test_a_rule_needs_no_more_than_it_says_it_reads(kind: str) -> None:
    rule = RULES[kind]
    frames, ended = sent.entries(trace(replace(PLANTED[kind], seconds=SECONDS)))
    history = History(len(frames), rule.READS)
    history.add(
        [wire.decode(payload, only(rule.READS)) for _, payload in frames],
        [each for _, payload in ended for each in activity.decode(payload)],
    )

    assert rule.find(history.view())


@pytest.mark.parametrize("kind", RULES)
def test_a_rule_recommends_a_technique_that_there_is_or_none(kind: str) -> None:
    assert RULES[kind].TECHNIQUE in {None, *Registry().techniques}
