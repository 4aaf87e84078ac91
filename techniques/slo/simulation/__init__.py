"""A simulated multi-tenant cluster, on which the controller that runs in production is measured."""
