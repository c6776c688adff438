"""From a name with options in brackets, such as `glad[max_iter=20]`, to what it stands for."""

from __future__ import annotations

import ast
import difflib
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, TypeVar

Made = TypeVar("Made")


def choose(
    text: str, known: Mapping[str, Callable[..., Made]], what: str
) -> tuple[Callable[..., Made], dict[str, Any]]:
    """What `text` names among the known names, and the options in its brackets.

    Upper and lower case, hyphens, underscores and spaces make no difference. Options are Python
    literals, and named arguments of what is chosen.
    """
    name, options = _cut(text, what)
    plain = {_plain(n): made for n, made in known.items()}
    first: dict[Callable[..., Made], str] = {}
    for n, made in known.items():
        first.setdefault(made, n)
    if _plain(name) not in plain:
        near = difflib.get_close_matches(_plain(name), plain, n=1)
        hint = f"did you mean {first[plain[near[0]]]}?" if near else f"there are {', '.join(first.values())}"
        raise ValueError(f"no {what} is called {name!r}; {hint}")
    made = plain[_plain(name)]
    given = inspect.signature(made).parameters.values()
    settings = {p.name.lower(): p.name for p in given if p.kind is p.KEYWORD_ONLY or p.default is not p.empty}
    if unknown := [option for option in options if option.lower() not in settings]:
        has = ", ".join(settings.values()) or "none"
        raise ValueError(f"{first[made]} has no option {unknown[0]!r}; its options are: {has}")
    return made, {settings[option.lower()]: value for option, value in options.items()}


def spell(name: str, settings: Any) -> str:
    """The name with the settings of a dataclass that are not the usual ones, as `choose` reads it."""
    shown = [f for f in fields(settings) if f.repr]
    values = {f.name: (getattr(settings, f.name), f.default) for f in shown}
    changed = [f"{key}={value!r}" for key, (value, default) in values.items() if value != default]
    return f"{name}[{','.join(changed)}]" if changed else name


def _cut(text: str, what: str) -> tuple[str, dict[str, Any]]:
    found = re.fullmatch(r"\s*([\w\s-]+?)\s*(?:\[(.*)\])?\s*", text, re.DOTALL)
    if found is None:
        raise ValueError(f"{text!r} is not a {what}; write name or name[option=value,...]")
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
