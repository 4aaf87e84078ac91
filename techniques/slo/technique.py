from techniques.model import Option, OptionKind, Scope, Technique
from techniques.schema import Fields, MapOf, Number
from techniques.slo.bounds import MOST_EXECUTORS, MOST_INSTANCES, MOST_SHARE
from techniques.slo.parameters import Sizing

MOST_OPERATORS = 64

TECHNIQUE = Technique(
    name="slo",
    title="SLO scheduling (Henge)",
    sentence=(
        "Gives resources of the cluster to the jobs that miss their SLOs, the most important "
        "first, until the total utility of all jobs is as high as it gets."
    ),
    needs="an SLO on the job's page, and the size of the cluster; jobs of one cluster share a tag",
    options=(
        Option(
            "sizing",
            "Step size",
            OptionKind.CHOICE,
            Sizing.HENGE.value,
            choices=tuple(each.value for each in Sizing),
        ),
        Option(
            "size",
            "Size of the cluster (0: give no more than there is)",
            OptionKind.INT,
            0,
            low=0,
            high=1_000_000,
            unit="units",
        ),
        Option("pools", "Change instances of pools", OptionKind.BOOL, True),
        Option("share", "Change the share in Spark's fair scheduler", OptionKind.BOOL, True),
        Option("executors", "Change the number of executors", OptionKind.BOOL, False),
        Option("settle_s", "Time to settle", OptionKind.INT, 60, low=10, high=600, unit="s"),
        Option(
            "blacklist_min", "Black-listed for", OptionKind.INT, 60, low=1, high=1_440, unit="min"
        ),
        Option(
            "collect_s",
            "Collect after missing data",
            OptionKind.INT,
            300,
            low=0,
            high=3_600,
            unit="s",
        ),
        Option(
            "tolerance",
            "A fall of utility is more than",
            OptionKind.FLOAT,
            2.0,
            low=0.0,
            high=50.0,
            unit="%",
        ),
        Option(
            "utilisation",
            "DS2 sizes for a utilisation of",
            OptionKind.FLOAT,
            60.0,
            low=10.0,
            high=100.0,
            unit="%",
        ),
    ),
    settings=Fields(
        optional={
            "instances": MapOf(Number(1, MOST_INSTANCES, whole=True), MOST_OPERATORS),
            "share": Number(1, MOST_SHARE, whole=True),
            "min_share": Number(0, 1_000, whole=True),
            "executors": Number(1, MOST_EXECUTORS, whole=True),
        }
    ),
    scope=Scope.CLUSTER,
)
