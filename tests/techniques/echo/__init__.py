"""A technique that moves nothing: how tests see the way from a click to a running job and back."""
