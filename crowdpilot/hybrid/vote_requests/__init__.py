"""Vote requests: which items people should label next, from items, votes, probabilities and a budget."""

from crowdpilot.hybrid.vote_requests.requests import VoteRequests, next_votes, request_votes
from crowdpilot.hybrid.vote_requests.resumed_campaign import ResumedCampaign, resume_campaign

__all__ = ["ResumedCampaign", "VoteRequests", "next_votes", "request_votes", "resume_campaign"]
