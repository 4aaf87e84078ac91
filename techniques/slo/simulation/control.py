"""The state machine that runs in production, on the simulated cluster: what it is shown and asked.

It sees what a program that watches a cluster could see: counters of operators, latencies of the
last round, juice of the last minute, loads of machines. It does not see the model.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from math import isnan

from techniques.slo import observation
from techniques.slo.actions import Action
from techniques.slo.juice import juice
from techniques.slo.machine import step
from techniques.slo.memory import Memory
from techniques.slo.objective import meets
from techniques.slo.observation import Observation
from techniques.slo.parameters import Parameters, Sizing
from techniques.slo.simulation.cluster import Job, JobSeen, Machines, OperatorSeen, Seen
from techniques.slo.simulation.juices import Juices
from techniques.slo.states import State
