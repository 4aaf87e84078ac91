"""Which techniques there are: every package in this folder that has a `technique` module.

    technique.py    TECHNIQUE: what its card says
    controller.py   conditions(view), decide(view, options, past): windows in, Decision out, pure;
                    with cluster scope decide_all(views, options, past), each a map by job
    realizer.py     orders(settings, job): what the probe's levers are to hold
    picture.py      figure(view, decision): what the card draws; optional

A new one needs a folder and nothing else. Its modules are imported when they are used: the
collector in the user's driver needs realizers only, and must not need NumPy.
"""

import pkgutil
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

import techniques
from techniques.model import Conditions, Decision, Figure, Options, Past, Technique
from techniques.orders import JobFacts, Order
from techniques.schema import Settings

if TYPE_CHECKING:
    from techniques.view import View


class Controller(Protocol):
    def conditions(self, view: "View") -> Conditions: ...
    def decide(self, view: "View", options: Options, past: Past) -> Decision | None: ...


class ClusterController(Protocol):
    """Sees all jobs of one label at once. A job that it does not name keeps its decision."""

    def conditions(self, view: "View") -> Conditions: ...
    def decide_all(
        self,
        views: Mapping[str, "View"],
        options: Mapping[str, Options],
        past: Mapping[str, Past],
    ) -> Mapping[str, Decision]: ...


class Picture(Protocol):
    def figure(self, view: "View", decision: Decision | None) -> Figure | None: ...


class Realizer(Protocol):
    def orders(self, settings: Settings, job: JobFacts) -> Sequence[Order]: ...


class Registry:
    """`extra` names packages elsewhere with the same modules, such as those of tests."""

    def __init__(self, extra: Sequence[str] = ()) -> None:
        inside = (
            f"{techniques.__name__}.{found.name}"
            for found in pkgutil.iter_modules(techniques.__path__)
            if found.ispkg
        )
        self._packages: dict[str, str] = {}
        self._techniques: dict[str, Technique] = {}
        for package in (*inside, *extra):
            if not _has(package, "technique"):
                continue
            technique: Technique = import_module(f"{package}.technique").TECHNIQUE
            self._packages[technique.name] = package
            self._techniques[technique.name] = technique

    @property
    def techniques(self) -> Mapping[str, Technique]:
        return self._techniques

    def controller(self, name: str) -> Controller:
        return cast(Controller, import_module(f"{self._packages[name]}.controller"))

    def cluster_controller(self, name: str) -> ClusterController:
        return cast(ClusterController, import_module(f"{self._packages[name]}.controller"))

    def picture(self, name: str) -> Picture | None:
        if not _has(self._packages[name], "picture"):
            return None
        return cast(Picture, import_module(f"{self._packages[name]}.picture"))

    def realizer(self, name: str) -> Realizer:
        return cast(Realizer, import_module(f"{self._packages[name]}.realizer"))


def _has(package: str, module: str) -> bool:
    """Looks for the file: `find_spec` of the module would import the package, and NumPy with it."""
    spec = find_spec(package)
    folders = (spec.submodule_search_locations if spec else None) or ()
    return any(Path(folder, f"{module}.py").exists() for folder in folders)


def named(text: str) -> tuple[str, ...]:
    """The packages that an environment variable lists, separated by commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())
