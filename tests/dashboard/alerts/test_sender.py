"""One request against a real receiver: slow, failing, redirecting, flooding; and names that lie."""

import socket
import ssl
import threading
import time
from ipaddress import ip_network
from pathlib import Path

import pytest

from dashboard.alerts import sender, signing
from dashboard.alerts.sender import Answer, Sender
from tests.dashboard.alerts.received import LOOPBACK, Received
from tests.dashboard.alerts.tls import tls_server

BODY = b'{"type":"webhook.test"}'


def post(url: str, deadline_s: float = 10, **options: object) -> Answer:
    made = Sender(LOOPBACK, deadline_s=deadline_s, **options)  # type: ignore[arg-type]
    return made.post(url, {"webhook-id": "msg_1"}, BODY)


def test_a_signed_message_arrives_and_is_verified(receiver: Received) -> None:
    secret = signing.new_secret()
    receiver.knows(secret)
    headers = signing.headers("msg_1", int(time.time()), BODY, [secret])
    answer = Sender(LOOPBACK).post(receiver.url("ok"), headers, BODY)

    assert (answer.status, answer.delivered, answer.body) == (200, True, "thank you")
    (seen,) = receiver.seen
    assert seen["verified_by"] == [secret]
    assert seen["headers"]["content-type"] == "application/json"
    assert seen["headers"]["host"] == f"127.0.0.1:{receiver.port}"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(receiver: Received, status: int) -> None:
    answer = post(receiver.url(f"redirect?status={status}&to=http://169.254.169.254/latest/"))
    assert (answer.status, answer.delivered) == (status, False)
    assert answer.error == "a redirect, which is not followed"
    assert len(receiver.seen) == 1


def test_nor_is_one_to_the_receiver_itself(receiver: Received) -> None:
    assert not post(receiver.url("redirect?to=/ok")).delivered
    assert [each["path"] for each in receiver.seen] == ["/redirect?to=/ok"]


@pytest.mark.parametrize("path", ["slow?s=60", "drip"])
def test_the_deadline_is_that_of_the_whole_attempt(receiver: Received, path: str) -> None:
    started = time.monotonic()
    answer = post(receiver.url(path), deadline_s=0.5)
    assert time.monotonic() - started < 30
    assert answer.error == "no whole answer within 0.5 s"
    assert answer.duration_ms >= 500


def test_a_flood_is_read_up_to_64_KB_and_kept_up_to_2(receiver: Received) -> None:
    answer = post(receiver.url("flood"))
    assert answer.delivered
    assert answer.body == "x" * 2_048


@pytest.mark.parametrize(
    ("path", "error"),
    [("garbage", "the answer is not HTTP"), ("break", "the answer is not HTTP")],
)
def test_what_is_no_answer_is_said(receiver: Received, path: str, error: str) -> None:
    assert post(receiver.url(path)).error == error


def test_nobody_there_is_said_without_the_address() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        answer = post(f"http://localhost:{unused.getsockname()[1]}/")
    assert answer.error == "could not connect"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_without_the_setting_nothing_goes_to_loopback(receiver: Received, host: str) -> None:
    url = receiver.url("ok").replace("127.0.0.1", host)
    answer = Sender().post(url, {}, BODY)
    assert answer.error.startswith("refused: ")
    assert answer.error.endswith("loopback")
    assert receiver.seen == []


def test_a_name_that_changes_its_mind_is_asked_only_once(receiver: Received) -> None:
    """DNS rebinding: public while it is checked, private when it is connected to."""
    answers = iter([["127.0.0.2"], ["127.0.0.1"]])  # stand for a public and a private one
    asked = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return next(answers)

    # Nobody listens on the first; a second question would lead to the receiver.
    answer = post(f"http://rebind.example:{receiver.port}/ok", resolve=resolve)
    assert answer.error == "could not connect"
    assert asked == ["rebind.example"]
    assert receiver.seen == []


def test_a_name_that_leads_inside_is_refused_whatever_it_led_to_before(receiver: Received) -> None:
    public = ip_network("192.0.2.0/24")  # stands for one: nobody is there
    answers = iter([["192.0.2.1"], ["127.0.0.1"]])
    rebinding = Sender((public,), deadline_s=2, resolve=lambda host, port: next(answers))
    url = f"http://rebind.example:{receiver.port}/ok"
    assert not rebinding.post(url, {}, BODY).error.startswith("refused")
    assert rebinding.post(url, {}, BODY).error.startswith("refused: the name resolves to")
    assert receiver.seen == []


def test_a_proxy_of_the_environment_is_not_used(
    receiver: Received, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, receiver.url(""))
    answer = Sender(resolve=lambda host, port: ["10.0.0.1"]).post("http://a.example/", {}, BODY)
    assert answer.error.startswith("refused: ")
    assert receiver.seen == []


def test_the_next_address_of_a_name_is_tried(receiver: Received) -> None:
    url = f"http://two.example:{receiver.port}/ok"
    answer = post(url, resolve=lambda host, port: ["127.0.0.2", "127.0.0.1"])
    assert answer.delivered
    assert receiver.seen[0]["headers"]["host"] == f"two.example:{receiver.port}"


def test_a_resolver_that_hangs_does_not_stretch_the_deadline() -> None:
    done = threading.Event()

    def resolve(host: str, port: int) -> list[str]:
        done.wait(60)
        return []

    started = time.monotonic()
    try:
        answer = post("http://a.example/", deadline_s=0.3, resolve=resolve)
    finally:
        done.set()
    assert answer.error == "no whole answer within 0.3 s"
    assert time.monotonic() - started < 30


@pytest.fixture
def trusting(monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    context = ssl.create_default_context()
    monkeypatch.setattr(sender, "_authorities", lambda: context)
    return context


def test_tls_is_with_the_name_though_the_address_was_chosen_by_us(
    tmp_path: Path, trusting: ssl.SSLContext
) -> None:
    with tls_server("hooks.example", tmp_path) as server:
        trusting.load_verify_locations(server.certificate)
        url = f"https://hooks.example:{server.port}/"
        answer = post(url, resolve=lambda host, port: ["127.0.0.1"])
        assert answer.status == 204
        assert server.asked_for == ["hooks.example"]
        assert server.hosts == [f"hooks.example:{server.port}"]

        other = f"https://other.example:{server.port}/"
        answer = post(other, resolve=lambda host, port: ["127.0.0.1"])
        assert answer.error == "could not connect: certificate not valid"
