"""From the name of a strategy, with options in brackets, to a model."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from crowdpilot.aggregate.aggregator import Aggregator


def parse(text: str, models: Mapping[str, type[Aggregator]]) -> Aggregator:
    """The model that `text` names, such as `glad` or `DSWC[L=5]`.

    Upper and lower case, hyphens, underscores and spaces make no difference, and every alias is
    known. Options are Python literals.
    """
    name, options = _cut(text)
    known = {_plain(n): m for m in models.values() for n in (m.name, m.__name__, *m.aliases)}
    if (model := known.get(_plain(name))) is None:
        near = difflib.get_close_matches(_plain(name), known, n=1)
        hint = f"did you mean {known[near[0]].name}?" if near else f"there are {', '.join(models)}"
        raise ValueError(f"no strategy is called {name!r}; {hint}")
    settings = {f.name.lower(): f.name for f in fields(model)}
    if unknown := [option for option in options if option.lower() not in settings]:
        has = ", ".join(settings.values()) or "none"
        raise ValueError(f"{model.name} has no option {unknown[0]!r}; its options are: {has}")
    return model(**{settings[option.lower()]: value for option, value in options.items()})


def _cut(text: str) -> tuple[str, dict[str, Any]]:
    found = re.fullmatch(r"\s*([\w\s-]+?)\s*(?:\[(.*)\])?\s*", text, re.DOTALL)
    if found is None:
        raise ValueError(f"{text!r} is not a strategy; write name or name[option=value,...]")
    name, options = found.groups()
    try:
        call = ast.parse(f"dict({options or ''})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise SyntaxError
        return name, {str(k.arg): ast.literal_eval(k.value) for k in call.keywords}
    except (SyntaxError, ValueError):
        raise ValueError(
            f"the options [{options}] of {name} are not Python literals such as [L=2,smoothing=.1]"
        ) from None


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).lower()
