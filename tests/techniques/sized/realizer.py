from techniques.slo.realizer import orders

__all__ = ["orders"]
