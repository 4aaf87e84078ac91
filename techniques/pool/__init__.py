"""The operator pool: long-lived Python instances beside each executor, and their transport."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from techniques.pool.on_spark import pooled

__all__ = ["pooled"]


def __getattr__(name: str) -> Any:
    # Imported lazily: processes that only use rings need neither Arrow nor Spark (1 s each).
    if name == "pooled":
        from techniques.pool.on_spark import pooled

        return pooled
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
