"""What holds for every cluster: Theorem 1 on well-behaved ones, the bounds on all."""

from math import ceil, log

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from techniques.slo.memory import Kind, Memory
from techniques.slo.observation import Machine
from techniques.slo.parameters import Parameters, Sizing
from techniques.slo.states import Event, State
from tests.techniques.slo.clusters import CROWDED, IDLE, Cluster, Model

SIZINGS = st.sampled_from(Sizing).map(lambda sizing: Parameters(sizing=sizing))


@st.composite
def models(draw: st.DrawFn, with_slo: bool = True) -> Model:
    """A job with one to three operators and a source; a cut below what it needs is not possible."""
    names = ["first", "second", "third"][: draw(st.integers(1, 3))]
    needs = {name: float(draw(st.integers(1, 60))) for name in names}
    has = {name: draw(st.integers(1, 80)) for name in names}
    slo = st.sampled_from([10.0, 35.0, 90.0])
    return Model(
        needs,
        {**has, "source": 1},
        draw(slo if with_slo else st.none() | slo),
        best=draw(st.sampled_from([1.0, 1.0, 0.5])),
        lows={name: ceil(needs[name]) for name in names},
        sources=("source",),
        arrived_per_s=draw(st.sampled_from([None, 600.0])),
    )


@st.composite
def well_behaved(draw: st.DrawFn) -> Cluster:
    """As section 5.4 defines it: a Reduction does not make a job miss its SLO, and a job's utility
    changes by what is done to this job only."""
    jobs = {f"job {at}": draw(models()) for at in range(draw(st.integers(1, 4)))}
    used = sum(sum(job.has.values()) for job in jobs.values())
    return Cluster(
        jobs,
        size=used + draw(st.sampled_from([0, 1, 20, 1_000])),
        machines=draw(st.sampled_from([IDLE, CROWDED])),
        parameters=draw(SIZINGS),
    )


@given(well_behaved())
@settings(max_examples=40, deadline=None)
def test_a_well_behaved_cluster_converges_within_the_steps_of_theorem_1(cluster: Cluster) -> None:
    """N is the number of jobs, F the largest ratio of a job's maximum utility to its first one; a
    job takes at most log F steps to the base 1 + Δ, a whole number of them, and the cluster one
    Reduction and one Reversion."""
    factor = max(1 / job.share for job in cluster.jobs.values())
    steps = ceil(log(factor) / log(1 + cluster.parameters.improvement) - 1e-9)
    first = cluster.utility

    cluster.until(State.CONVERGED)

    assert len(cluster.actions) <= len(cluster.jobs) * steps + 2
    assert cluster.kinds.count(Kind.REDUCTION) <= 1
    assert cluster.utility >= first - 1e-9
    taken = len(cluster.actions)
    cluster.run(60)
    assert cluster.is_in(State.CONVERGED)
    assert len(cluster.actions) == taken, "nothing changed, so nothing more is done"


class AnyCluster(RuleBasedStateMachine):
    """Whatever happens to a cluster: jobs come and go, data is missing, loads change, actions are
    refused, not carried out, or harm everybody."""

    def __init__(self) -> None:
        super().__init__()
        self.cluster = Cluster({}, size=200)
        self.harm = 1.0
        self.broken: set[str] = set()
        # Harm comes to every other job.
        self.cluster.penalty = lambda cluster, job: self.harm if len(job) % 2 else 1.0
        self.cluster.carries_out = lambda job, operator, to: None if job in self.broken else to

    @rule(name=st.sampled_from(["a", "bb", "c", "dd"]), model=models(with_slo=False))
    def join(self, name: str, model: Model) -> None:
        if self.cluster.used + sum(model.has.values()) <= self.cluster.size:
            self.cluster.jobs.setdefault(name, model)

    @precondition(lambda self: self.cluster.jobs)
    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.cluster.jobs)))
        del self.cluster.jobs[name]
        self.broken.discard(name)

    @precondition(lambda self: self.cluster.jobs)
    @rule(data=st.data(), what=st.sampled_from(["missing", "back", "broken", "refused", "load"]))
    def change(self, data: st.DataObject, what: str) -> None:
        name = data.draw(st.sampled_from(sorted(self.cluster.jobs)))
        job = self.cluster.jobs[name]
        if what in ("missing", "back"):
            job.is_missing = what == "missing"
        elif what == "load":
            factor = data.draw(st.sampled_from([0.3, 3.0]))
            job.needs = {operator: need * factor for operator, need in job.needs.items()}
        else:
            self.broken.add(name)
            job.refused = "no" if what == "refused" else ""

    @rule(harm=st.sampled_from([1.0, 0.5]), crowded=st.booleans())
    def weather(self, harm: float, crowded: bool) -> None:
        self.harm = harm
        self.cluster.machines = CROWDED if crowded else (Machine(4), *IDLE)

    @rule(rounds=st.integers(1, 40))
    def rounds(self, rounds: int) -> None:
        for _ in range(rounds):
            self.one_round()

    def one_round(self) -> None:
        before, was = self.cluster.observation(), self.cluster.memory
        actions = self.cluster.round()
        memory, now_ms = self.cluster.memory, self.cluster.now_ms
        happened = {entry.what for entry in memory.log if entry.at_ms == now_ms}
        assert Memory.of(memory.as_data()) == memory
        assert len(actions) <= 1
        for action in actions:
            for name, asked in action.asked.items():
                job = before.jobs[name]
                assert job.has_slo, "a job without an SLO is never touched"
                assert all(to <= job.operators[each].high for each, to in asked.items())
                if action.kind is Kind.RECONFIGURATION:
                    assert job.meets is False
                    assert all(to > job.parallelisms[each] for each, to in asked.items())
                    listed = was.blacklist.get(name)
                    assert listed is None or listed.until_ms <= now_ms or Event.CHANGED in happened
                if action.kind is Kind.REDUCTION:
                    assert job.meets is True
                    assert all(to < job.parallelisms[each] for each, to in asked.items())
                    assert not was.is_reduced or Event.CHANGED in happened

    @invariant()
    def the_cluster_is_never_exceeded(self) -> None:
        assert self.cluster.used <= self.cluster.size


AnyCluster.TestCase.settings = settings(max_examples=20, stateful_step_count=20, deadline=None)
TestAnyCluster = AnyCluster.TestCase
