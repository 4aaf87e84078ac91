from typing import Any

from django.db import migrations, models
from django.db.models import Q

PRIORITY = 35.0


def as_objectives(apps: Any, _schema_editor: Any) -> None:
    """Until now an SLO was a p99 of processed records, worth less the further it was missed."""
    for slo in apps.get_model("dashboard", "Slo").objects.filter(p99_ms__isnull=False):
        slo.objective = {
            "latency": {
                "of": "processed",
                "statistic": "p99",
                "threshold_ms": slo.p99_ms,
                "utility": {"shape": "knee"},
            },
            "juice": None,
            "priority": PRIORITY,
        }
        slo.save(update_fields=["objective"])


def as_p99(apps: Any, _schema_editor: Any) -> None:
    """What is no p99 of processed records cannot be said by one number, and counts as withdrawn:
    nobody is called for another latency than was asked for."""
    for slo in apps.get_model("dashboard", "Slo").objects.filter(objective__isnull=False):
        latency = slo.objective["latency"] or {}
        if (latency.get("of"), latency.get("statistic")) == ("processed", "p99"):
            slo.p99_ms = latency["threshold_ms"]
        else:
            slo.version += 1
            slo.violated_ms = None
        slo.save(update_fields=["p99_ms", "version", "violated_ms"])


class Migration(migrations.Migration):
    dependencies = [("dashboard", "0009_analysis")]

    operations = [
        migrations.AddField(
            "slo",
            "objective",
            models.JSONField(null=True, help_text="written by techniques.slo.objective.as_data"),
        ),
        migrations.RunPython(as_objectives, as_p99),
        migrations.RemoveConstraint("slo", "slo_within_an_hour"),
        migrations.RemoveField("slo", "p99_ms"),
        migrations.AddConstraint(
            "slo",
            models.CheckConstraint(
                condition=Q(objective__isnull=True)
                | Q(
                    objective__latency__threshold_ms__gt=0,
                    objective__latency__threshold_ms__lte=3_600_000.0,
                ),
                name="slo_latency_within_an_hour",
            ),
        ),
        migrations.AddConstraint(
            "slo",
            models.CheckConstraint(
                condition=Q(objective__isnull=True)
                | Q(objective__juice__threshold__gt=0, objective__juice__threshold__lte=1),
                name="slo_juice_is_a_share",
            ),
        ),
        migrations.AddConstraint(
            "slo",
            models.CheckConstraint(
                condition=Q(objective__isnull=True)
                | Q(objective__priority__gte=0.1, objective__priority__lte=1_000.0),
                name="slo_priority_is_bounded",
            ),
        ),
    ]
