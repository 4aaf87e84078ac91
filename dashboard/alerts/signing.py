"""Signatures of Standard Webhooks: HMAC-SHA256 over id, timestamp and body, a list of them.

A list, so that a secret can be replaced while receivers still know the old one.
"""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence

START = "whsec_"
SECRET_BYTES = 32


def new_secret() -> str:
    return START + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def headers(
    webhook_id: str, now_s: int, body: bytes, valid_secrets: Sequence[str]
) -> dict[str, str]:
    signed = f"{webhook_id}.{now_s}.".encode() + body
    return {
        "webhook-id": webhook_id,
        "webhook-timestamp": str(now_s),
        "webhook-signature": " ".join(_signature(signed, secret) for secret in valid_secrets),
    }


def _signature(signed: bytes, secret: str) -> str:
    key = base64.b64decode(secret.removeprefix(START))
    return f"v1,{base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()}"
