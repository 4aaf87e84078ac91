"""A technique that asks for resources as its settings say: by the realizer of objectives."""
