"""Which techniques there are: every package in this folder that has a `technique` module.

    technique.py    TECHNIQUE: what its card says
    controller.py   conditions(view), decide(view, options, past): windows in, Decision out, pure;
                    of cluster scope decide_all(views, options, past), each by job
    realizer.py     orders(settings, job): what the probe's levers are to hold
    picture.py      figure(view, decision): what the card draws; not every technique has one

A new one needs a folder and nothing else. Its modules are imported when they are used: the
collector in the user's driver needs realizers only, and none of NumPy.
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
    """`extra` names packages elsewhere that are built alike, as tests have."""

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
    """By its files: looking for the module would import the package, detectors and NumPy too."""
    spec = find_spec(package)
    folders = (spec.submodule_search_locations if spec else None) or ()
    return any(Path(folder, f"{module}.py").exists() for folder in folders)


def named(text: str) -> tuple[str, ...]:
    """Packages as an environment variable lists them, separated by commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())
