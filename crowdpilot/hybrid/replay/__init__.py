"""Replay of policies on recorded or simulated votes."""

from crowdpilot.hybrid.replay.run import Replayed, replay
from crowdpilot.hybrid.replay.vote_source import Case, Recorded, Simulated, World

__all__ = ["Case", "Recorded", "Replayed", "Simulated", "World", "replay"]
