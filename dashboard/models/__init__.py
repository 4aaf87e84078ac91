"""Records that outlive Redis, one noun per file."""

from dashboard.models.alerts import AlertEvent, Attempt, Delivery, Endpoint
from dashboard.models.analyses import Analysis
from dashboard.models.audit import AppendOnly, AuditEntry
from dashboard.models.clusters import ClusterSize
from dashboard.models.incidents import Incident
from dashboard.models.jobs import Job, Run
from dashboard.models.people import Person, Role, assigned_role, role_of
from dashboard.models.slos import Slo, SloHour
from dashboard.models.tags import Tag
from dashboard.models.techniques import (
    ClusterLease,
    ControlDocument,
    Stand,
    TechniqueDecision,
    TechniqueSetting,
)
from dashboard.models.tokens import Scope, Token

__all__ = [
    "AlertEvent",
    "Analysis",
    "AppendOnly",
    "Attempt",
    "AuditEntry",
    "ClusterLease",
    "ClusterSize",
    "ControlDocument",
    "Delivery",
    "Endpoint",
    "Incident",
    "Job",
    "Person",
    "Role",
    "Run",
    "Scope",
    "Slo",
    "SloHour",
    "Stand",
    "Tag",
    "TechniqueDecision",
    "TechniqueSetting",
    "Token",
    "assigned_role",
    "role_of",
]
