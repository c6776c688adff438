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
    currency, classifier = spec["currency"], _classifier_price(spec)
    prices = dict(spec["costs"]["prices"] or {"crowd": error_costs.DEFAULT_PRICE})
    price = error_costs.answer_price(prices) or 0.0
    first = "crowd" if "crowd" in prices else next(iter(prices))
    each = f"Each answer costs {money(price, currency)}" if price else "Answers cost nothing"
    others = [f", one of “{kind}” {money(prices[kind], currency)}" for kind in prices if kind != first]
    machine = f" The classifier costs {money(classifier, currency)} for each item." if classifier else ""
    is_free = not any(prices.values()) and not classifier
    totals = "" if is_free else _totals(spec, n_items, price)
    return f"{each}{''.join(others)}{totals}.{machine}{_unlimited(spec)}"


def _unlimited(spec: Spec) -> str:
    """What a budget does not limit: pay on platforms goes by submission."""
    used = [name for name, study in (("Prolific", "prolific"), ("Mechanical Turk", "mturk")) if spec[study]]
    if spec["costs"]["budget"] is None or not used:
        return ""
    return f" The budget does not limit what you pay on {' and '.join(used)}."


def _totals(spec: Spec, n_items: int, price: float) -> str:
    """What the project will cost, as far as that is known, and the most that it can cost: its budget."""
    budget, currency, usual = spec["costs"]["budget"], spec["currency"], usual_money(spec, n_items, price)
    most = "" if budget is None else f"at most {money(budget, currency)}"
    if usual is None or (budget is not None and usual >= budget):
        return f", {most} in all" if most else "; there is no limit to what is spent"
    about = f"{'about' if FIXED.fullmatch(spec['policy']) else 'up to about'} {money(usual, currency)}"
    if most:
        return f", {about} and {most} in all"
    return f", {about} in all{', and more for items whose answer you know' if spec['plan']['gold'] else ''}"


def usual_money(spec: Spec, n_items: int, price: float) -> float | None:
    """What all items cost if each has as many answers as it may have; None if nothing limits that.

    More can be spent: on items whose answer is known, and on answers of guests that do not count.
    """
    fixed, questions = FIXED.fullmatch(spec["policy"]), max(len(spec["criteria"]), 1)
    limits = [int(fixed[1])] if fixed else []
    limits += [spec["plan"]["per_item"]] if spec["plan"]["per_item"] else []
    only_crowd = set(spec["costs"]["prices"] or {"crowd": price}) == {"crowd"}
    if not n_items or not only_crowd or (price and not limits):
        return None
    answers = questions * min(limits) * price if limits else 0.0
    return n_items * (answers + _classifier_price(spec))


def _classifier_price(spec: Spec) -> float:
    return 0.0 if spec["machine"] == "none" else float(spec["costs"]["classifier"])


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
            f"A missed “{classes[1]}” costs as much as {_answers(errors[1][0] / unit)}, “{classes[1]}” by "
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
