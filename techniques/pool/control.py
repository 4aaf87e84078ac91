"""Finds the running pools of this host, changes their policy and their instances."""

import os
from dataclasses import dataclass

from techniques.pool.host.meeting_place import Meeting, meeting_root, space
from techniques.pool.page import Page
from techniques.pool.policies import name_of, number_of
from techniques.pool.settings import SETTINGS


@dataclass(frozen=True)
class RunningPool:
    where: str

    def page(self) -> Page:
        """Opens the pool's page; the caller must close it."""
        return Page.attach(os.path.join(self.where, "page"))

    def policy(self) -> str:
        page = self.page()
        try:
            return name_of(page.control[1])
        finally:
            page.close()

    def switch(self, policy: str, **settings: int) -> int:
        """Puts a policy in force from the next chunk on, and settings, which otherwise go back to
        their defaults; returns the control word's version."""
        number = number_of(policy)
        page = self.page()
        try:
            return page.steer(number, **{each.name: each.default for each in SETTINGS} | settings)
        finally:
            page.close()

    def resize(self, operator: str, instances: int) -> None:
        """Asks for so many instances of an operator; they come and go while chunks flow."""
        page = self.page()
        try:
            names = [page.operator_name(each) for each in range(page.operators)]
            if operator not in names:
                raise ValueError(f"no operator {operator!r}; there are {', '.join(names)}")
            page.resize(names.index(operator), instances)
        finally:
            page.close()


def running(application: str, name: str) -> RunningPool | None:
    """Returns the application's pool of this name on this host, if it is running."""
    for folder in meeting_root().glob(f"{space()}-{application}-{name}-*"):
        where = Meeting(folder).current()
        if where is not None and os.path.exists(os.path.join(where, "page")):
            return RunningPool(where)
    return None
