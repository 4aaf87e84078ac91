"""The real controller beside a simulated query: what it decides is carried out."""

from dataclasses import dataclass, field

from techniques.model import Decision, Mode, Past, Scalar
from techniques.options import checked
from techniques.state_balancing.controller import decide
from techniques.state_balancing.simulation import START_MS, Machine, Simulation
from techniques.state_balancing.technique import TECHNIQUE

# As the worker does it (`dashboard/steering/rounds.py`).
DECIDES_EVERY_MS = 5_000


@dataclass
class Driver:
    """Runs batches and decisions in turn. `moves` are the times in seconds from the beginning and
    the partitions that moved then."""

    simulation: Simulation
    given: dict[str, Scalar] = field(default_factory=dict)
    run: str = "run"
    decision: Decision | None = None
    decisions: list[Decision] = field(default_factory=list)
    moves: list[tuple[float, int]] = field(default_factory=list)
    looked_ms: float = 0.0

    def drive(self, seconds: float) -> "Driver":
        until_ms = self.simulation.now_ms + seconds * 1000
        while self.simulation.now_ms < until_ms:
            self.simulation.batch()
            if self.simulation.now_ms - self.looked_ms >= DECIDES_EVERY_MS:
                self.looked_ms = self.simulation.now_ms
                self._decide()
        return self

    def _decide(self) -> None:
        options, past = checked(TECHNIQUE.options, self.given), Past(Mode.ACT, self.run)
        view = self.simulation.view()
        made = decide(view, options, Past(past.mode, past.run, self.decision))
        if made is None:
            return
        TECHNIQUE.settings.check(made.settings)
        self.decision = made
        self.decisions.append(made)
        at_s = (self.simulation.now_ms - START_MS) / 1000
        self.moves += [(at_s, each) for each in self.simulation.move(wishes(made))]


def wishes(decision: Decision) -> dict[int, str]:
    held = decision.settings["places"]
    assert isinstance(held, dict)
    return {int(partition): str(to) for partition, to in held.items()}


def driven(simulation: Simulation, seconds: float, **given: Scalar) -> Driver:
    return Driver(simulation, given).drive(seconds)


def of_three(slowness: float = 2.0, **about: float) -> Simulation:
    """Twelve equal partitions on three executors of one core, of which 2 is slower."""
    return Simulation(
        {"1": Machine(), "2": Machine(slowness=slowness), "3": Machine()},
        dict.fromkeys(range(12), 200.0),
        {partition: str(partition % 3 + 1) for partition in range(12)},
        **about,  # type: ignore[arg-type]
    )
