"""The same job as in tests/running_job without its fault: there is nothing to find."""

import sqlite3
from contextlib import closing
from typing import Any

import pytest
from redis import Redis

from collectors.formats import keys, wire
from dashboard.testing.stack import Stack
from tests.end_to_end.conftest import JOB_ID
from tests.waiting import until

pytestmark = [pytest.mark.spark, pytest.mark.quiet]

# Longer than a run with the fault needs to be found out, once it has warmed up.
WINDOWS = 40 * 20
WARM_UP = wire.Only(frozenset((wire.WARMING_UP,)), frozenset())


def steady_windows(client: Any) -> int:
    payloads = [fields[keys.PAYLOAD] for _, fields in client.xrange(keys.frames(JOB_ID).key)]
    return sum(not wire.decode(payload, WARM_UP).warming_up for payload in payloads)


def test_no_shadowsync_is_found_where_there_is_none(running: Stack) -> None:
    client: Any = Redis.from_url(running.redis.url)
    with closing(client):
        until(lambda: steady_windows(client) >= WINDOWS, timeout_s=180, every_s=0.5)
    with closing(sqlite3.connect(running.data_dir / "curtail.sqlite3")) as database:
        asked = "SELECT kind FROM dashboard_incident WHERE job_id = ?"
        kinds = {kind for (kind,) in database.execute(asked, (JOB_ID,))}

    assert not kinds & {"scheduled_shadowsync", "statistical_shadowsync"}
