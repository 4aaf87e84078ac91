"""What a person is told of that no detector finds: a promise that is not kept, a job gone silent.

promises   when an SLO is violated and when it is restored; pure
losses     which runs fell silent, and which are back
telling    both as events
rounds     what the worker does every second
"""
