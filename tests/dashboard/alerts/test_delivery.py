"""From the outbox to a real receiver, with the clock and the courier's rounds by hand."""

import time
from dataclasses import dataclass, replace
from typing import Any

import pytest
from django.db import transaction

from dashboard.alerts import endpoints, leases, outbox
from dashboard.alerts.delivery import LEASE_MS, Courier
from dashboard.alerts.events import Event
from dashboard.alerts.schedule import KEEP_TRYING_MS
from dashboard.alerts.sender import Sender
from dashboard.models import Attempt, AuditEntry, Delivery, Endpoint
from tests.dashboard.alerts.made import OPENED, RESOLVED, endpoint, opened
from tests.dashboard.alerts.received import LOOPBACK, Received

pytestmark = pytest.mark.django_db

DELIVERED, FAILED, PENDING = "delivered", "failed", "pending"


@dataclass
class Post:
    """A courier without threads, and its clock, which begins now: receivers check timestamps."""

    now_ms: int
    deadline_s: float = 10

    def courier(self) -> Courier:
        return Courier(
            Sender(LOOPBACK, deadline_s=self.deadline_s),
            clock_ms=lambda: self.now_ms,
            random=lambda: 1 - 1e-9,
        )

    def round(self) -> None:
        courier = self.courier()
        for taken in courier.take(16):
            courier.serve(taken)

    def publish(self, event: Event = OPENED) -> None:
        with transaction.atomic():
            outbox.publish(event, self.now_ms)

    @property
    def states(self) -> list[str]:
        return list(Delivery.objects.order_by("pk").values_list("state", flat=True))

    @property
    def only(self) -> Delivery:
        return Delivery.objects.get()


@pytest.fixture
def post() -> Post:
    return Post(time.time_ns() // 1_000_000)


def signed_endpoint(receiver: Received, path: str, **fields: Any) -> Endpoint:
    made = endpoint(receiver.url(path), **fields)
    receiver.knows(*Endpoint.objects.values_list("secret", flat=True))
    return made


def test_an_event_arrives_once_signed_and_logged(receiver: Received, post: Post) -> None:
    made = signed_endpoint(receiver, "ok")
    post.publish()
    post.round()
    post.round()

    (seen,) = receiver.seen
    assert seen["verified_by"] == [made.secret]
    assert seen["headers"]["webhook-id"] == post.only.event.webhook_id
    assert '"type":"incident.opened"' in seen["body"]
    assert (post.only.state, post.only.attempts) == (DELIVERED, 1)
    logged = Attempt.objects.get()
    assert (logged.status, logged.response, logged.number) == (200, "thank you", 1)


def test_no_log_tells_the_address_of_an_endpoint(
    receiver: Received, post: Post, caplog: pytest.LogCaptureFixture
) -> None:
    """For Slack and others the path is the secret."""
    signed_endpoint(receiver, "ok?token=s3cr3t")
    post.publish()
    with caplog.at_level("DEBUG"):
        post.round()
    assert post.only.state == DELIVERED
    assert "s3cr3t" not in caplog.text


def test_while_a_secret_is_rotated_either_verifies_and_after_a_day_the_new_one_alone(
    receiver: Received, post: Post
) -> None:
    made = signed_endpoint(receiver, "ok")
    rotated = endpoints.rotate(made.pk, "olga", "", post.now_ms)
    receiver.knows(made.secret, rotated.secret)
    post.publish()
    post.round()
    assert receiver.seen[0]["verified_by"] == [made.secret, rotated.secret]

    # The day has passed for the endpoint; the signature's own clock is the receiver's.
    Endpoint.objects.update(previous_until_ms=post.now_ms)
    post.publish()
    post.round()
    assert receiver.seen[1]["verified_by"] == [rotated.secret]


def test_what_fails_is_tried_again_later_with_the_same_id(receiver: Received, post: Post) -> None:
    signed_endpoint(receiver, "fail_first?times=2")
    post.publish()
    post.round()
    assert (post.only.state, post.only.because) == (PENDING, "it answered 500")
    post.now_ms += 4_000
    post.round()
    assert len(receiver.seen) == 1, "not before it is due"
    post.now_ms += 1_000
    post.round()
    post.now_ms += 10_000
    post.round()

    assert post.only.state == DELIVERED
    assert len(receiver.seen) == 3
    assert len(set(receiver.ids)) == 1
    statuses = Attempt.objects.order_by("pk").values_list("number", "status")
    assert list(statuses) == [(1, 500), (2, 500), (3, 200)]


def test_after_24_hours_it_is_given_up_and_kept_for_a_replay(
    receiver: Received, post: Post
) -> None:
    signed_endpoint(receiver, "fail")
    post.publish()
    first_ms = post.now_ms
    while post.only.state == PENDING:
        post.now_ms = max(post.now_ms, post.only.due_ms)
        post.round()
        assert post.only.attempts < 50
    assert post.now_ms == first_ms + KEEP_TRYING_MS
    assert (post.only.state, post.only.because) == (FAILED, "gave up after 24 h")

    Endpoint.objects.update(url=receiver.url("ok"))
    endpoints.replay(post.only.pk, "olga", "mended", post.now_ms)
    post.round()
    assert post.only.state == DELIVERED
    assert len(set(receiver.ids)) == 1
    assert AuditEntry.objects.get(action="webhook.replayed").reason == "mended"


def test_retry_after_holds_for_all_that_goes_to_that_endpoint(
    receiver: Received, post: Post
) -> None:
    signed_endpoint(receiver, "later?after=120")
    post.publish()
    post.publish(opened(8))
    post.round()
    assert len(receiver.seen) == 1
    post.now_ms += 119_000
    post.round()
    assert len(receiver.seen) == 1
    Endpoint.objects.update(url=receiver.url("ok"))
    post.now_ms += 1_000
    post.round()
    assert post.states == [DELIVERED, DELIVERED]


def test_gone_disables_the_endpoint_and_what_waits_for_it(receiver: Received, post: Post) -> None:
    signed_endpoint(receiver, "gone")
    post.publish()
    post.publish(opened(8))
    post.round()

    assert len(receiver.seen) == 1
    disabled = Endpoint.objects.get()
    assert (disabled.active, disabled.disabled_because) == (False, "it answered 410 Gone")
    assert post.states == [FAILED, FAILED]
    assert AuditEntry.objects.get().action == "webhook.disabled"
    post.publish(opened(9))
    assert len(post.states) == 2


def test_a_redirect_counts_as_a_failure(receiver: Received, post: Post) -> None:
    signed_endpoint(receiver, "redirect?to=/ok")
    post.publish()
    post.round()
    assert post.only.because == "a redirect, which is not followed"
    assert len(receiver.seen) == 1


def test_resolved_does_not_overtake_opened(receiver: Received, post: Post) -> None:
    signed_endpoint(receiver, "fail_first?times=1")
    post.publish(OPENED)
    post.publish(RESOLVED)
    other = opened(8)
    post.publish(other)
    post.round()
    # The other incident need not wait: only its first attempt failed as well.
    assert len(set(receiver.ids)) == 2
    post.now_ms += 5_000
    post.round()
    post.now_ms += 5_000
    post.round()
    assert post.states == [DELIVERED] * 3
    types = [
        each["body"].split('"')[3] for each in receiver.seen if '"incident_id":7' in each["body"]
    ]
    assert types == ["incident.opened"] * 2 + ["incident.resolved"] * 2


def test_messages_to_one_endpoint_go_in_the_order_of_what_happened(
    receiver: Received, post: Post
) -> None:
    signed_endpoint(receiver, "ok")
    for incident in range(5):
        post.publish(opened(incident))
    post.round()
    sent = [each["body"].partition('"incident_id":')[2][0] for each in receiver.seen]
    assert sent == list("01234")


def test_what_is_leased_is_nobody_elses_until_the_lease_has_run_out(
    receiver: Received, post: Post
) -> None:
    """A worker was killed in mid-send: it took the message and never settled it."""
    signed_endpoint(receiver, "ok")
    post.publish()
    post.publish(opened(8))
    (taken,) = post.courier().take(16)
    assert post.courier().take(16) == [], "neither that one nor the next for that endpoint"
    post.now_ms += LEASE_MS - 1
    assert post.courier().take(16) == []

    post.now_ms += 1
    post.round()
    assert receiver.ids[0] == taken.webhook_id
    assert post.states == [DELIVERED, DELIVERED]


def test_a_worker_that_comes_too_late_changes_nothing(receiver: Received, post: Post) -> None:
    signed_endpoint(receiver, "fail")
    post.publish()
    courier = post.courier()
    (slow,) = courier.take(16)
    post.now_ms += LEASE_MS
    Endpoint.objects.update(url=receiver.url("ok"))
    post.round()
    assert post.only.state == DELIVERED

    courier.serve(slow)  # what it sends is still the message for the address it took
    assert post.only.state == DELIVERED
    assert [each["path"] for each in receiver.seen] == ["/ok", "/fail"]
    assert post.only.attempts == 2


def test_nothing_is_sent_to_an_endpoint_that_was_deleted_meanwhile(
    receiver: Received, post: Post
) -> None:
    made = signed_endpoint(receiver, "ok")
    post.publish()
    courier = post.courier()
    (taken,) = courier.take(16)
    endpoints.delete(made.pk, "olga", "")
    courier.serve(taken)  # the request was on its way
    assert not Attempt.objects.exists()


def test_a_message_that_cannot_be_written_is_a_failure_and_not_a_crash_loop(
    receiver: Received, post: Post
) -> None:
    signed_endpoint(receiver, "ok")
    post.publish()
    kept = post.only.event
    kept.event = {**kept.event, "type": "of.a.later.version"}
    kept.save()
    post.round()
    assert (post.only.state, post.only.because) == (
        PENDING,
        "it cannot be sent; the worker's log says why",
    )
    assert receiver.seen == []


def test_a_test_is_sent_once_and_not_tried_again(receiver: Received, post: Post) -> None:
    made = signed_endpoint(receiver, "fail?status=403")
    endpoints.send_test(made.pk, "olga", "", post.now_ms)
    post.round()
    assert (post.only.state, post.only.because) == (FAILED, "it answered 403")
    assert '"type":"webhook.test"' in receiver.seen[0]["body"]


@pytest.mark.parametrize("wanted", ["standard", "alertmanager", "slack", "pagerduty"])
def test_every_format_is_signed(receiver: Received, post: Post, wanted: str) -> None:
    made = signed_endpoint(receiver, "ok", format=wanted, routing_key="R0UT1NG")
    post.publish(replace(OPENED, title="größer"))
    post.round()
    assert receiver.seen[0]["verified_by"] == [made.secret]
    assert "größer" in receiver.seen[0]["body"]


def test_taking_nothing_takes_one_query(
    post: Post, django_assert_num_queries: Any, receiver: Received
) -> None:
    signed_endpoint(receiver, "ok")
    with django_assert_num_queries(1):
        assert leases.take(post.now_ms, LEASE_MS, 16) == []
