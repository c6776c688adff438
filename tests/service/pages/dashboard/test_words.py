"""Requester pages are in plain words: no term of the field that its pages do not explain."""

from __future__ import annotations

import re

import pytest

from tests.service.harness.dashboard import DashboardService

FORBIDDEN = (
    "expected loss", "loss per item", "learn workers anew", "votes at odds", "posterior", "refit", "pilot",
    "confusion matrix", "replica", "acquisition", "misleading share", "log-likelihood", "tfidf", "embeddings",
    "campaign", "e-step", "prior", "hyperparameter", "redundancy", "calibrat", "stochastic", "bayes",
    "votes?", "settled", "gold item",
)  # fmt: skip
TABS = (
    "",
    "/live",
    "/items",
    "/review",
    "/workers",
    "/audit",
    "/export",
    "/settings",
    "/members",
    "/log",
    "/add",
)
ALLOWED = ("crowdpilot",)  # the name of the program


def words_of(page: str) -> str:
    """What somebody reads on a page: no scripts, addresses, code or values of hidden fields."""
    seen = re.sub(r"<(script|style|template)\b.*?</\1>", " ", page, flags=re.S)
    seen = re.sub(r'<[^>]*class="[^"]*mono[^"]*"[^>]*>.*?</[a-z]+>|<code>.*?</code>', " ", seen, flags=re.S)
    labels = " ".join(re.findall(r'(?:aria-label|title|placeholder|alt)="([^"]*)"', seen))
    text = re.sub(r"<[^>]*>", " ", seen) + " " + labels
    for name in ALLOWED:
        text = re.sub(name, "", text, flags=re.I)
    return text


@pytest.mark.parametrize("votes", [0, 30, 10**6])
def test_no_page_of_a_project_needs_a_dictionary(service: DashboardService, votes: int) -> None:
    id, client = service.create(20), service.signed_in()
    if votes:
        service.work(id, votes)
        service.do_jobs()
    pages = {path: client.get(f"/projects/{id}{path}") for path in TABS}
    pages |= {path: client.get(path) for path in ("/projects", "/projects/new", "/keys", "/members", "/log")}
    for path, page in pages.items():
        if page.status_code == 404:
            continue
        text = words_of(page.text)
        found = [word for word in FORBIDDEN if re.search(rf"\b{word}", text, re.I)]
        assert not found, (path, found)
        assert not re.search(r"\bp_[A-Z]+\b", text), path
