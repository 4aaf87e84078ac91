from dashboard.models import Slo


def promised_ms() -> dict[str, float]:
    """The p99 that jobs promise, by job; those that promise none are left out."""
    held = Slo.objects.filter(p99_ms__isnull=False)
    return dict(held.values_list("job_id", "p99_ms"))
