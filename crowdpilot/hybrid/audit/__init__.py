"""Audit: experts check a sample of decided items, and a confidence sequence bounds the loss of all."""

from crowdpilot.hybrid.audit.expert_audit import Audit, audit
from crowdpilot.hybrid.audit.pool import Bound

__all__ = ["Audit", "Bound", "audit"]
