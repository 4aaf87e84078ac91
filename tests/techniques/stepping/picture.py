from techniques.model import Axis, Decision, Dot, Figure, FigureKind, Mark
from techniques.view import View


def figure(view: View, decision: Decision | None) -> Figure:
    looks = decision.memory["looks"] if decision else 0
    return Figure(
        kind=FigureKind.POINTS,
        title="Looks",
        x=Axis("look"),
        y=Axis("windows seen"),
        points=tuple(Dot(at, len(view), 1, f"look {at}") for at in range(1, looks + 1)),
        mark=Mark(looks, "last") if looks else None,
        note="It looked." if looks else "It has not looked yet.",
    )
