from techniques.model import Option, OptionKind, Technique
from techniques.schema import Fields, Flag, Number

SETTINGS = Fields(
    optional={
        "thresholds": Flag(),
        "lowest": Number(4, 16, whole=True),
        "spread": Number(1, 16, whole=True),
        "seed": Number(0, 2**31 - 1, whole=True),
        "threads": Flag(),
        "compaction_threads": Number(0, 64, whole=True),
        "delay_ms": Number(0, 60_000),
        "snapshots": Flag(),
        "base": Number(0, 16, whole=True),
        "in_step": Flag(),
    }
)

TECHNIQUE = Technique(
    name="shadowsync",
    title="ShadowSync desynchronisation",
    sentence=(
        "Lets each state store compact at a flush of its own instead of all at the same checkpoint."
    ),
    needs="state in RocksDB, in several partitions",
    settings=SETTINGS,
    options=(
        Option("thresholds", "A random threshold per state store", OptionKind.BOOL, True),
        Option("threads", "As many flush threads as cores", OptionKind.BOOL, True),
        Option(
            "delay", "Compaction waits until the flush's queue has drained", OptionKind.BOOL, False
        ),
        Option(
            "snapshots",
            "With changelogs, snapshots spread over the batches",
            OptionKind.BOOL,
            True,
        ),
        Option("preventive", "Also before any ShadowSync is found", OptionKind.BOOL, False),
        # With both at their maximum a store compacts at 14 files, two commits before the limit.
        Option(
            "lowest",
            "Lowest threshold (higher: fewer compactions, more files to read)",
            OptionKind.INT,
            4,
            low=4,
            high=7,
            unit="files",
        ),
        Option(
            "spread",
            "Number of different thresholds, from the lowest up",
            OptionKind.INT,
            4,
            low=2,
            high=8,
            unit="files",
        ),
        Option(
            "knee",
            "Compaction threads at the knee of p99 (act tries some, a minute each)",
            OptionKind.BOOL,
            True,
        ),
        Option(
            "compaction_threads",
            "Fixed number of compaction threads per executor (0: not fixed)",
            OptionKind.INT,
            0,
            low=0,
            high=64,
        ),
        Option(
            "fewest_threads",
            "Fewest threads to try",
            OptionKind.INT,
            1,
            low=1,
            high=64,
        ),
        Option(
            "most_threads",
            "Most threads to try (0: two per core)",
            OptionKind.INT,
            0,
            low=0,
            high=64,
        ),
        Option("seed", "Seed of thresholds and phases", OptionKind.INT, 0, low=0, high=2**31 - 1),
    ),
)
