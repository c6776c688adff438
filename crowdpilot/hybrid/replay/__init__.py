"""Replay: run a policy on recorded or simulated votes, and measure its votes, cost and loss."""

from crowdpilot.hybrid.replay.run import ReplayResult, replay, replay_scenario
from crowdpilot.hybrid.replay.vote_source import RecordedVotes, Scenario, SimulatedVotes, VoteSource

__all__ = [
    "RecordedVotes",
    "ReplayResult",
    "Scenario",
    "SimulatedVotes",
    "VoteSource",
    "replay",
    "replay_scenario",
]
