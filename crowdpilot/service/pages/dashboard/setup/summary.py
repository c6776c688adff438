"""Summary of a project before it is created, in words: items, answers, money, who decides."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from crowdpilot.service.pages.dashboard.formatting import count, money, percent
from crowdpilot.service.pages.dashboard.setup import error_costs
from crowdpilot.service.pages.dashboard.setup.fields import plain_number

Spec = Mapping[str, Any]
FIXED = re.compile(r"fixed\[votes=(\d+)\]")
CLASSIFIERS = {
    "none": "People alone decide.",
    "given": "The probabilities in your file help to decide.",
    "tfidf": "A classifier learns from the texts and the answers, and helps to decide.",
    "embeddings": "A neural network learns from the items and the answers, and helps to decide.",
}


def summarise(spec: Spec, n_items: int) -> list[str]:
    """What a project will be, in sentences; without a number of items where it is not known (0)."""
    return [
        _items(spec, n_items), _prices(spec, n_items), _errors(spec), CLASSIFIERS[spec["machine"]],
        *_workers(spec),
    ]  # fmt: skip


def _items(spec: Spec, n_items: int) -> str:
    items = count(n_items, "item") if n_items else "Your items"
    answers = ", ".join(f"“{name}”" for name in spec["classes"][:6]) + (
        " …" if len(spec["classes"]) > 6 else ""
    )
    criteria = f" to {count(len(spec['criteria']), 'criterion', 'criteria')}" if spec["criteria"] else ""
    return f"{items}, {len(spec['classes'])} answers{criteria}: {answers}."


def _prices(spec: Spec, n_items: int) -> str:
    prices, currency = spec["costs"]["prices"], spec["currency"]
    price = error_costs.DEFAULT_PRICE if prices is None else error_costs.answer_price(prices)
    each = f"Each answer costs {money(price, currency)}" if price else "Answers cost nothing"
    most = most_money(spec, n_items, price or 0.0)
    if not price:
        return f"{each}."
    return (
        f"{each}, at most {money(most, currency)} in all."
        if most is not None
        else f"{each}; there is no limit to what is spent."
    )


def most_money(spec: Spec, n_items: int, price: float) -> float | None:
    """The most that answers can cost: the budget, or what the limits allow; None if nothing limits it."""
    fixed, questions = FIXED.fullmatch(spec["policy"]), max(len(spec["criteria"]), 1)
    limits = [int(fixed[1])] if fixed else []
    limits += [spec["plan"]["per_item"]] if spec["plan"]["per_item"] else []
    only_crowd = set(spec["costs"]["prices"] or {"crowd": price}) == {"crowd"}
    by_items = [n_items * questions * min(limits) * price] if limits and n_items and only_crowd else []
    budget = [spec["costs"]["budget"]] if spec["costs"]["budget"] is not None else []
    return min(by_items + budget, default=None)


def _errors(spec: Spec) -> str:
    if spec["policy"] != "value":
        fixed = FIXED.fullmatch(spec["policy"])
        return f"Each item gets {fixed[1]} answers." if fixed else f"The rule {spec['policy']} decides."
    errors, classes = spec["costs"]["errors"], spec["classes"]
    if errors is None:
        return "Items get answers as long as another one is worth its price."
    unit = error_costs.unit(error_costs.answer_price(spec["costs"]["prices"]))
    if len(classes) == 2 and errors[0][1] != errors[1][0]:
        return (
            f"A missed “{classes[1]}” costs as much as {_answers(errors[1][0] / unit)}, a “{classes[1]}” by "
            f"mistake as much as {_answers(errors[0][1] / unit)}."
        )
    others = {cost for k, row in enumerate(errors) for d, cost in enumerate(row) if d != k}
    if len(others) > 1:
        return f"A wrong label costs as much as {min(others) / unit:g} to {_answers(max(others) / unit)}."
    return f"A wrong label costs as much as {_answers(max(others) / unit)}."


def _answers(n: float) -> str:
    rounded = float(f"{n:.3g}")
    return f"{plain_number(rounded)} {'answer' if rounded == 1 else 'answers'}"


def _workers(spec: Spec) -> list[str]:
    """What workers meet before and beside the items."""
    before = [
        name for name, there in (
            ("agree to your consent text", spec["consent"]), ("read your instructions", spec["instructions"]),
            (f"answer a quiz of {count(len(spec['quiz']), 'question')}", spec["quiz"]),
        ) if there
    ]  # fmt: skip
    words = [f"Before they start, workers {', then '.join(before)}."] if before else []
    if spec["plan"]["gold"]:
        words.append(
            f"{percent(spec['plan']['gold'])} of each worker’s items are ones whose answer you know."
        )
    return words
