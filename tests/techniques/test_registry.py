import subprocess
import sys

from techniques.registry import Registry, named

ECHO = "tests.techniques.echo"


def test_a_technique_is_found_by_its_folder_alone() -> None:
    assert "echo" not in Registry().techniques
    assert Registry([ECHO]).techniques["echo"].title == "Echo"


def test_every_technique_has_a_controller_and_a_realizer() -> None:
    registry = Registry([ECHO])

    for name in registry.techniques:
        assert callable(registry.controller(name).decide)
        assert callable(registry.controller(name).conditions)
        assert callable(registry.realizer(name).orders)


def test_the_collector_needs_no_numpy_to_know_the_techniques() -> None:
    code = f"import sys; from techniques.registry import Registry; r = Registry(['{ECHO}']); "
    code += "[r.realizer(n) for n in r.techniques]; print('numpy' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert said.stdout.strip() == "False"


def test_packages_are_listed_with_commas() -> None:
    assert named(" a.b, c ,, ") == ("a.b", "c")
