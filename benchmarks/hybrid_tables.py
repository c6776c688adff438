"""Tables of the campaigns of `benchmarks.hybrid`."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.tables import NONE, markdown

OURS = "value"
FIXED = "fixed[votes=5]"
BEST_STOP = ("fixed", "posterior", "shortest", "switch")  # policies that get the best stop in hindsight
MIN_VOTES_PER_ITEM = 0.06  # before a stop: without votes a decision would be blind
QUESTIONS = {"amazon_screening_min3": 2.0}  # per item, one if not listed; fixed redundancy has a vote on each
MISLED = "medical_cause"  # where the crowd overlooks what experts see, however many are asked
NO_FEATURES = "dog"  # the one set without features for a classifier


class Curves:
    """Mean curves by set, policy, ratio and price."""

    def __init__(self, found: dict[str, Any]) -> None:
        self.price = found["price"]
        self.by = {tuple(key.split("|")): curve for key, curve in found["curves"].items()}

    def sets(self) -> list[str]:
        """In the order of their names."""
        return sorted({key[0] for key in self.by})

    def ratios(self) -> list[str]:
        """As texts, in order."""
        return sorted({key[2] for key in self.by}, key=int)

    def others(self, name: str, ratio: str) -> dict[str, tuple[float, float, float]]:
        """Total cost, votes and loss of every other policy."""
        found = {}
        for (where, policy, r, _), curve in self.by.items():
            if where == name and r == ratio and policy != OURS:
                votes, loss = np.array(curve["grid"]), np.array(curve["loss"])
                if policy.startswith(BEST_STOP):
                    begun = votes >= (QUESTIONS.get(name, 1.0) if policy == FIXED else MIN_VOTES_PER_ITEM)
                    best = int(np.where(begun, loss + self.price * votes, np.inf).argmin())
                    found[policy] = float(loss[best] + self.price * votes[best]), votes[best], loss[best]
                else:
                    end = curve["end"]
                    found[policy] = end["loss"] + self.price * end["votes"], end["votes"], end["loss"]
        return found

    def ours(self, name: str, ratio: str, *, cheap: bool) -> dict[str, Any] | None:
        """Our curve, to the stop or far beyond."""
        prices = sorted(float(key[3]) for key in self.by if key[:3] == (name, OURS, ratio))
        if len(prices) < 2:
            return None
        curve: dict[str, Any] = self.by[name, OURS, ratio, str(prices[0] if cheap else prices[-1])]
        return curve


def at(curve: dict[str, Any], votes: float) -> float:
    """The loss with so many votes for each item."""
    return float(np.interp(votes, curve["grid"], curve["loss"]))


def needed(curve: dict[str, Any], loss: float) -> float:
    """Votes for each item with which the mean loss is first at most this."""
    below = np.flatnonzero(np.array(curve["loss"]) <= loss)
    return float(curve["grid"][below[0]]) if len(below) else np.inf


def area(curve: dict[str, Any], far: float) -> float:
    """Mean loss on the way to `far` votes for each item; past its end a curve stays where it is."""
    grid = np.linspace(0, far, 200)
    return float(np.interp(grid, curve["grid"], curve["loss"]).mean())


def render(found: dict[str, Any]) -> str:
    """All tables."""
    curves = Curves(found)
    about = f"{found['campaigns']} of {found['of']} campaigns in {found['seconds']:.0f} s."
    parts = [
        f"# Policies on real crowds\n\n{about} A vote costs {curves.price}.\n",
        f"## Votes to lose as little as fixed redundancy\n\n{_votes(curves)}",
        f"## Total cost for each item\n\n{_totals(curves)}",
        f"## Mean loss on the way to the votes of fixed redundancy\n\n{_areas(curves)}",
        f"## What a campaign itself expects to lose, and what it loses\n\n{_expected(curves)}",
        f"## Points asked for\n\n{_points(curves)}",
    ]
    return "\n".join(parts)


def _votes(curves: Curves) -> str:
    rows, shares = [], []
    for name in curves.sets():
        for ratio in curves.ratios():
            ours, fixed = curves.ours(name, ratio, cheap=True), _fixed(curves, name, ratio)
            if ours is None or fixed is None:
                continue
            end = fixed["end"]
            votes = needed(ours, end["loss"])
            share = votes / end["votes"]
            shares.append((name, share))
            shown = NONE if np.isinf(votes) else f"{votes:.2f}"
            part = "never" if np.isinf(share) else f"{share:.2f}"
            cells = [f"{end['votes']:.2f}", f"{end['loss']:.4f}", shown, part, str(ours["seeds"])]
            rows.append([f"{name}, {ratio}", *cells])
    seen = [min(share, 1.0) for name, share in shares if name != NO_FEATURES]
    note = (
        f"Mean share where there are features for a classifier, never counted as 1: {np.mean(seen):.2f}.\n"
        if seen
        else ""
    )
    header = ["set, ratio of costs", "fixed votes", "fixed loss", "our votes", "share", "seeds"]
    return markdown(header, rows) + "\n" + note


def _fixed(curves: Curves, name: str, ratio: str) -> dict[str, Any] | None:
    found = [curve for key, curve in curves.by.items() if key[:3] == (name, FIXED, ratio)]
    return found[0] if found else None


def _totals(curves: Curves) -> str:
    rows: list[list[str]] = []
    gaps: list[float] = []
    names = sorted({key[1] for key in curves.by if key[1] != OURS})
    for name in curves.sets():
        for ratio in curves.ratios():
            ours, others = curves.ours(name, ratio, cheap=False), curves.others(name, ratio)
            if ours is None or not others:
                continue
            end = ours["end"]
            total = end["loss"] + curves.price * end["votes"]
            best = min(others.values())[0]
            gaps.append(total / best - 1)
            cells = [f"{others[p][0]:.4f}" if p in others else NONE for p in names]
            rows.append(
                [
                    f"{name}, {ratio}",
                    f"{total:.4f}",
                    f"{end['votes']:.2f}",
                    f"{100 * gaps[-1]:+.1f} %",
                    *cells,
                ]
            )
    sound = [gap for gap, row in zip(gaps, rows, strict=True) if not row[0].startswith(MISLED)]
    shown = [f"{100 * value:+.1f} %" for value in (np.mean(gaps), np.median(gaps), np.mean(sound))]
    note = "Beside the best other policy: mean {}, median {}, mean without {} {}.\n".format(
        *shown[:2], MISLED, shown[2]
    )
    return markdown(["set, ratio of costs", OURS, "its votes", "beside the best", *names], rows) + "\n" + note


def _areas(curves: Curves) -> str:
    rows = []
    names = sorted({key[1] for key in curves.by if key[1] != OURS})
    for name in curves.sets():
        for ratio in curves.ratios():
            ours, fixed = curves.ours(name, ratio, cheap=True), _fixed(curves, name, ratio)
            if ours is None or fixed is None:
                continue
            far = fixed["end"]["votes"]
            others = {key[1]: curve for key, curve in curves.by.items() if key[0] == name and key[2] == ratio}
            cells = [f"{area(others[p], far):.4f}" if p in others else NONE for p in names]
            rows.append([f"{name}, {ratio}", f"{area(ours, far):.4f}", *cells])
    return markdown(["set, ratio of costs", OURS, *names], rows)


def _expected(curves: Curves) -> str:
    rows = []
    for name in curves.sets():
        for ratio in curves.ratios():
            if (ours := curves.ours(name, ratio, cheap=False)) is not None:
                end = ours["end"]
                times = end["loss"] / max(end["expected"], 1e-9)
                rows.append(
                    [f"{name}, {ratio}", f"{end['expected']:.4f}", f"{end['loss']:.4f}", f"{times:.1f}"]
                )
    return markdown(["set, ratio of costs", "expected", "lost", "times"], rows)


def _points(curves: Curves) -> str:
    rows = []
    for name, ratio, votes, goal in (
        ("amazon_screening_min3", "5", 1.65, 0.065),
        ("amazon_screening_min3", "5", 2.2, 0.059),
        ("cifar10h_densenet", "1", 0.45, 0.0105),
    ):
        curve = curves.ours(name, ratio, cheap=True) if name in curves.sets() else None
        if curve is not None:
            reached = needed(curve, goal)
            cells = [f"{votes}", f"{goal}", f"{at(curve, votes):.4f}", f"{reached:.2f}", str(curve["seeds"])]
            rows.append([f"{name}, {ratio}", *cells])
    return markdown(
        ["set, ratio of costs", "votes", "loss asked for", "loss", "asked loss at votes", "seeds"], rows
    )
