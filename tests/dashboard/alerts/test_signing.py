import base64
import time

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from dashboard.alerts import signing

BODY = '{"type":"incident.opened","title":"größer"}'.encode()


def signed(*secrets: str) -> dict[str, str]:
    return signing.headers("msg_1", int(time.time()), BODY, secrets)


def test_the_library_verifies_what_we_sign() -> None:
    secret = signing.new_secret()
    assert Webhook(secret).verify(BODY, signed(secret))["type"] == "incident.opened"


def test_while_a_secret_is_replaced_both_verify() -> None:
    old, new = signing.new_secret(), signing.new_secret()
    for secret in (old, new):
        Webhook(secret).verify(BODY, signed(new, old))


@pytest.mark.parametrize("tampered", ["webhook-id", "webhook-timestamp", "body", "secret"])
def test_anything_changed_is_no_longer_verified(tampered: str) -> None:
    secret = signing.new_secret()
    headers, body = signed(secret), BODY
    if tampered == "body":
        body = BODY.replace(b"opened", b"closed")
    elif tampered == "secret":
        secret = signing.new_secret()
    else:
        headers[tampered] = headers[tampered][:-1] + chr(ord(headers[tampered][-1]) ^ 1)
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(body, headers)


def test_a_secret_has_256_random_bits() -> None:
    secret = signing.new_secret()
    assert secret.startswith("whsec_")
    assert len(base64.b64decode(secret.removeprefix("whsec_"))) == 32
    assert secret != signing.new_secret()
