"""Resource ownership: if two techniques of a job claim a resource, the first one asked gets it."""

from collections.abc import Iterable

from techniques.orders import Claim


class Arbitration:
    """The claims of one edition. A new object is made per edition; claim in order of precedence."""

    def __init__(self) -> None:
        self._owners: dict[tuple[str, str], tuple[str, str]] = {}

    def claim(self, job_id: str, technique: str, claims: Iterable[Claim]) -> str:
        """Grants all of the claims or none; returns "" if granted, otherwise the reason."""
        wanted = {self._key(job_id, claim): claim for claim in claims}
        for key, claim in wanted.items():
            owner = self._owners.get(key)
            if owner is not None and owner != (job_id, technique):
                return f"{_said(owner, job_id)} owns the {claim.resource}"
        for key in wanted:
            self._owners[key] = (job_id, technique)
        return ""

    @staticmethod
    def _key(job_id: str, claim: Claim) -> tuple[str, str]:
        return ("" if claim.of_application else job_id, claim.resource)


def _said(owner: tuple[str, str], job_id: str) -> str:
    owner_job, technique = owner
    return technique if owner_job == job_id else f"{technique} of {owner_job}"
