"""A technique that switches the dispatch policy of a job's operator pools: by the pool lever."""
