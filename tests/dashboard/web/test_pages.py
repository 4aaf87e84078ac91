import pytest
from django.contrib.auth.models import User
from django.contrib.staticfiles import finders
from django.test import Client

from dashboard.fleet import jobs
from dashboard.models import Incident
from tests.factories import ANNOUNCEMENT

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("path", ["/", "/jobs/orders.scored", "/nowhere"])
def test_without_a_login_no_page_is_shown(client: Client, path: str) -> None:
    response = client.get(path)
    assert response.status_code in (302, 404)
    assert b"orders" not in response.content


def test_the_login_page_needs_no_login(client: Client) -> None:
    assert client.get("/login").status_code == 200


def test_logging_in_leads_to_the_jobs(client: Client) -> None:
    User.objects.create_user("eve", password="a long enough one")
    response = client.post("/login", {"username": "eve", "password": "a long enough one"})
    assert response.headers["Location"] == "/"
    assert client.get("/").status_code == 200


def test_a_wrong_password_is_said(client: Client) -> None:
    response = client.post("/login", {"username": "eve", "password": "guess"})
    assert response.status_code == 200
    assert "_auth_user_id" not in client.session


def test_a_known_job_has_a_page_and_an_unknown_one_has_none(client: Client) -> None:
    client.force_login(User.objects.create_user("eve"))
    jobs.record([ANNOUNCEMENT])
    assert b"orders.scored" in client.get("/jobs/orders.scored").content
    assert client.get("/jobs/nobody").status_code == 404


def test_a_known_incident_has_a_page_and_an_unknown_one_has_none(client: Client) -> None:
    client.force_login(User.objects.create_user("eve"))
    jobs.record([ANNOUNCEMENT])
    made = Incident.objects.create(
        job_id="orders.scored", kind="straggler", title="<b>slow</b>", onset_ms=1
    )
    page = client.get(f"/incidents/{made.pk}").content.decode()
    assert "&lt;b&gt;slow&lt;/b&gt;" in page
    assert f'data-incident="{made.pk}"' in page
    assert 'href="/jobs/orders.scored"' in page
    for unknown in (made.pk + 1, 99999999999999999999):
        assert client.get(f"/incidents/{unknown}").status_code == 404
    assert 'value="straggler"' in client.get("/incidents").content.decode()


def test_plotlys_script_comes_from_the_installed_wheel() -> None:
    found = finders.find("plotly/plotly.min.js")
    assert isinstance(found, str)
    assert found.endswith("plotly/package_data/plotly.min.js")
    assert not finders.find("plotly/plotly.js")
