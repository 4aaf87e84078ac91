"""A technique whose realizer raises what it is told to: it must not take the frames with it."""
