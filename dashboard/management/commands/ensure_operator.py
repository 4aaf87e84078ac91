"""Creates the first user, an admin, and prints its password once: there is no default password."""

import secrets
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand
from django.db import IntegrityError, transaction

from dashboard.accounts import audit
from dashboard.accounts.roles import Role

PASSWORD_BYTES = 12


class Command(BaseCommand):
    help = "Creates an admin with a generated password, unless there is one of that name."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--username", default="operator", help="login (%(default)s)")
        parser.add_argument(
            "--if-no-users",
            action="store_true",
            help="do nothing where anybody can log in already, whatever the name",
        )

    def handle(self, *args: Any, username: str, if_no_users: bool, **options: Any) -> None:
        users = get_user_model().objects
        if users.exists() if if_no_users else users.filter(username=username).exists():
            return
        password = secrets.token_urlsafe(PASSWORD_BYTES)
        try:
            with transaction.atomic():
                # A superuser is an admin (`dashboard.accounts.roles`).
                users.create_superuser(username=username, password=password)
                audit.record("curtail", "user.added", username, after={"role": Role.ADMIN})
        except IntegrityError:
            return  # another process was first, and said its password
        self.stdout.write(f"login: {username}\npassword: {password}\n")
