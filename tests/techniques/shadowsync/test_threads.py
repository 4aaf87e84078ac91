"""Which number of compaction threads the controller decides for, from look to look."""

from dataclasses import dataclass, replace

from techniques.model import Decision, Mode, Past, Scalar
from techniques.options import checked
from techniques.shadowsync.controller import decide
from techniques.shadowsync.picture import figure
from techniques.shadowsync.technique import TECHNIQUE
from techniques.view import WINDOW_MS, Interval, View
from tests.techniques.detection.traces import Setting, moved, trace
from tests.techniques.shadowsync.curves import compacting

STATISTICAL = trace(Setting(in_phase=(0, 1), stages_in_phase=True))
SCHEDULED = trace(Setting(in_phase=(0,)))
CALM = trace(Setting())
# Kept apart from the stages' own: no operator has them.
OTHER = "3"


def told(decision: Decision) -> str:
    return next(each.value for each in decision.evidence if each.name == "compaction threads")


def with_levels(view: View, levels: int) -> View:
    """Up to so many compactions at once in the windows whose records are fast, four a second."""
    added: list[Interval] = []
    for second in range(0, len(view), 1000 // WINDOW_MS):
        for level in range(1, levels + 1):
            added += compacting(view.at_ms(second + level), level, OTHER)
    p99_ms = view.p99_ms.copy()
    p99_ms[4 :: 1000 // WINDOW_MS] *= 1 if levels < 4 else 4
    compactions = [*view.intervals["compaction"], *added]
    return replace(view, p99_ms=p99_ms, intervals={**view.intervals, "compaction": compactions})


# More than three at once, and records wait.
KNEE = with_levels(STATISTICAL, 4)


@dataclass
class Steered:
    """A controller that is asked again and again; the worker does so more often."""

    mode: Mode = Mode.ACT
    run: str = "run 1"
    decision: Decision | None = None
    refused: str = ""
    at_ms: int = 0
    every_ms: int = 60_000

    def look(self, view: View, **given: Scalar) -> Decision | None:
        self.at_ms += self.every_ms
        past = Past(self.mode, self.run, self.decision, self.refused)
        found = decide(moved(view, self.at_ms), checked(TECHNIQUE.options, given), past)
        self.decision = found or self.decision
        return found

    def number(self, view: View, **given: Scalar) -> object:
        self.look(view, **given)
        assert self.decision
        return self.decision.settings["compaction_threads"]

    @property
    def says(self) -> str:
        assert self.decision
        return told(self.decision)


def exploring(**given: Scalar) -> Steered:
    """In the first step: nothing else is done about it, so it need not be awaited."""
    job = Steered()
    assert job.number(STATISTICAL, thresholds=False, **given) == 1
    assert "step 1 of" in job.says
    return job


def test_in_advise_the_knee_of_what_is_there_is_told() -> None:
    job = Steered(Mode.ADVISE)

    assert job.number(KNEE) == 3
    assert job.says == "3: beyond 3 compactions at once p99 rises"
    assert job.decision
    assert "3 compaction threads, the knee" in job.decision.reason


def test_in_advise_too_little_is_told_and_nothing_tried() -> None:
    job = Steered(Mode.ADVISE)

    for _ in range(6):
        assert job.number(STATISTICAL) == 0
    assert "too few windows with compactions" in job.says
    assert "not tried in advise" in job.says


def test_in_act_thresholds_come_first_and_thread_counts_after_two_minutes() -> None:
    job = Steered(every_ms=30_000)
    numbers = [job.number(STATISTICAL) for _ in range(6)]

    assert numbers == [0, 0, 0, 0, 1, 1]
    assert "UTC, step 1 of 4: " in job.says
    assert "tries 1, 2, 4, 8, a minute each" in job.says
    assert job.decision
    assert "UTC" in job.decision.reason


def test_steps_follow_the_cores_or_the_bounds_that_were_given() -> None:
    two_cores = replace(STATISTICAL, cores=2)
    many = replace(STATISTICAL, cores=64)

    job = Steered()
    job.look(two_cores, thresholds=False)
    assert "tries 1, 2, 4, a" in job.says
    job = Steered()
    job.look(many, thresholds=False)
    assert "tries 1, 2, 4, 8, 16, a" in job.says
    assert "tries 3, 6, 9, a" in exploring_within(3, 9).says


def exploring_within(fewest: int, most: int) -> Steered:
    job = Steered()
    job.look(STATISTICAL, thresholds=False, fewest_threads=fewest, most_threads=most)
    return job


def test_the_same_step_is_one_decision() -> None:
    job = exploring()
    job.every_ms = 15_000
    first = job.decision
    for _ in range(3):
        again = job.look(STATISTICAL, thresholds=False)
        assert first
        assert again
        assert (again.settings, again.memory) == (first.settings, first.memory)
    assert job.number(STATISTICAL, thresholds=False) == 2


def test_a_knee_that_was_found_is_kept_when_the_levels_are_gone() -> None:
    job = Steered()
    job.number(KNEE)

    for _ in range(6):
        assert job.number(STATISTICAL) == 3
    # And when only one stage is left in phase.
    assert job.number(SCHEDULED) == 3


def test_another_run_looks_anew() -> None:
    job = Steered()
    job.number(KNEE)
    job.run = "run 2"

    assert job.number(STATISTICAL) == 0
    assert job.number(STATISTICAL) == 0


def test_another_run_in_which_nothing_is_found_gets_its_threads_back() -> None:
    job = Steered()
    job.number(KNEE)
    job.run = "run 2"

    assert job.number(CALM) == 0
    assert "started again" in job.says
    assert job.look(CALM) is None


def test_a_shadowsync_that_is_gone_ends_the_search_and_keeps_the_rest() -> None:
    job = exploring()
    settings = job.decision and job.decision.settings
    assert settings

    assert job.number(CALM, thresholds=False) == 0
    assert job.decision
    assert job.decision.settings == {**settings, "compaction_threads": 0}
    assert "the ShadowSync was gone in step 1 of 4" in job.says
    assert job.look(CALM, thresholds=False) is None
    # It is not begun again when the ShadowSync comes back.
    for _ in range(6):
        assert job.number(STATISTICAL, thresholds=False) == 0


def test_preventive_does_not_go_on_searching_either() -> None:
    job = exploring(preventive=True)

    assert job.number(CALM, thresholds=False, preventive=True) == 0


def test_a_job_that_withdraws_is_asked_for_nothing_new() -> None:
    """The lever takes any other order for a new beginning."""
    job = exploring()
    settings = job.decision and job.decision.settings
    job.refused = "1: 16 files at level 0; withdrawn until it is switched on again"

    for _ in range(6):
        job.look(STATISTICAL, thresholds=False)
        assert job.decision
        assert job.decision.settings == settings
    assert "given up: 1: 16 files at level 0" in job.says
    job.refused = ""
    assert job.number(STATISTICAL, thresholds=False) == 1


def test_a_job_that_refused_before_is_not_explored() -> None:
    job = Steered(refused="state is in HDFSBackedStateStoreProvider, not in RocksDB")

    for _ in range(6):
        assert job.number(STATISTICAL, thresholds=False) == 0


def test_a_fixed_number_is_set_and_nothing_looked_for() -> None:
    job = Steered()

    assert job.number(STATISTICAL, compaction_threads=5, threads=False) == 5
    assert job.decision
    assert job.decision.memory == {}
    assert "5 compaction threads" in job.decision.reason


def test_without_the_knee_threads_are_as_they_are() -> None:
    job = Steered()

    for _ in range(6):
        assert job.number(STATISTICAL, thresholds=False, knee=False) == 0
    assert job.decision
    assert job.decision.memory == {}


def test_a_stage_that_compacts_alone_needs_no_search() -> None:
    job = Steered()

    for _ in range(6):
        assert job.number(SCHEDULED) == 0


def test_the_figure_is_of_the_windows_while_nothing_was_decided() -> None:
    drawn = figure(with_levels(STATISTICAL, 3), None)

    assert [point.x for point in drawn.points] == [1, 2, 3]
    assert drawn.points[0].says.startswith("1 compaction at once: p99 ")
    assert drawn.mark is None
    assert drawn.note == "No knee: only 1, 2 and 3 compactions at once were seen often enough."
    assert drawn.y.unit == "ms"


def test_the_figure_marks_the_knee_and_keeps_the_points_that_showed_it() -> None:
    job = Steered()
    job.number(KNEE)
    drawn = figure(moved(CALM, 10_000_000), job.decision)

    assert [point.x for point in drawn.points] == [1, 2, 3, 4]
    assert drawn.mark
    assert (drawn.mark.x, drawn.mark.label) == (3, "knee: 3")
    assert drawn.note == "Beyond 3 compactions at once p99 rises."


def test_the_figure_says_which_step_is_being_taken() -> None:
    job = exploring()

    assert figure(STATISTICAL, job.decision).note == "Looking for the knee: step 1 of 4."


def test_a_figure_without_points_says_why() -> None:
    drawn = figure(STATISTICAL, None)

    assert drawn.points == ()
    assert drawn.note == "Nothing to draw yet: there were too few windows with compactions."
