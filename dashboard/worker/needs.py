"""What all rules and controllers together read of a job."""

from techniques.detection import RULES
from techniques.registry import Registry
from techniques.view import BASIC, Reads


def reads_of_all(registry: Registry) -> frozenset[Reads]:
    """The union over rules and controllers; cards draw only what controllers read."""
    of_rules = (rule.READS for rule in RULES.values())
    modules = (registry.controller(name) for name in registry.techniques)
    of_controllers = (getattr(module, "READS", BASIC) for module in modules)
    return frozenset[Reads]().union(*of_rules, *of_controllers)
