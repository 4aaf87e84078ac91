"""Who owns what: a resource of a job that two techniques want belongs to the one asked first."""

from collections.abc import Iterable

from techniques.orders import Claim


class Arbitration:
    """Of one edition: made anew whenever orders are composed, in the order in which they count."""

    def __init__(self) -> None:
        self._owners: dict[tuple[str, str], tuple[str, str]] = {}

    def claim(self, job_id: str, technique: str, claims: Iterable[Claim]) -> str:
        """Takes all of the claims or none: the empty string, or why not."""
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
