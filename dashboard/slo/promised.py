from dashboard.models import Slo


def promised_ms() -> dict[str, float]:
    """The SLO (p99 in ms) by job; jobs without one are left out."""
    held = Slo.objects.filter(p99_ms__isnull=False).values_list("job_id", "p99_ms")
    return {job_id: p99_ms for job_id, p99_ms in held if p99_ms is not None}
