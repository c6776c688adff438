"""Names with options in brackets, such as `glad[max_iter=20]`: parsing, writing, and "did you mean"."""

from __future__ import annotations

import ast
import difflib
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any, ClassVar, Protocol, TypeVar


class Named(Protocol):
    """An object of a class that is chosen by its name or an alias."""

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]]


Made = TypeVar("Made")
NamedMade = TypeVar("NamedMade", bound=Named)


def did_you_mean(name: str, known: Iterable[str], otherwise: str | None = None) -> str:
    """The end of a sentence about a name that does not exist: the known name most like it.

    If none is like it, all known names, or what `otherwise` says. Upper and lower case, hyphens,
    underscores and spaces make no difference.

    Examples
    --------
    >>> did_you_mean("dawid-skeen", ["dawid_skene", "glad"]), did_you_mean("x", ["dawid_skene", "glad"])
    ('; did you mean dawid_skene?', '; there are dawid_skene, glad')
    """
    by_plain: dict[str, str] = {}
    for shown in known:
        by_plain.setdefault(_plain(shown), shown)
    near = difflib.get_close_matches(_plain(name), by_plain, n=1)
    if near:
        return f"; did you mean {by_plain[near[0]]}?"
    return f"; there are {', '.join(by_plain.values()) or 'none'}" if otherwise is None else f"; {otherwise}"


def unknown_attribute(owner: Any, name: str, elsewhere: Mapping[str, str]) -> AttributeError:
    """The error for an attribute that is not there: what to use instead, or the public name most like it."""
    own = (*dir(type(owner)), *getattr(owner, "__dataclass_fields__", ()))
    public = [known for known in own if not known.startswith("_")]
    hint = did_you_mean(name, public, otherwise=f"help({type(owner).__name__}) shows what it has")
    use = f"; use {elsewhere[name]}" if name in elsewhere else hint
    return AttributeError(f"{type(owner).__name__} has no {name!r}{use}", name=name, obj=owner)


def choose(
    text: str, known: Mapping[str, Callable[..., Made]], what: str
) -> tuple[Callable[..., Made], dict[str, Any]]:
    """The known object that `text` names, and the options in its brackets.

    Upper and lower case, hyphens, underscores and spaces make no difference. Options are Python
    literals, and named arguments of what is chosen.
    """
    name, options = _split(text, what)
    plain = {_plain(n): made for n, made in known.items()}
    first: dict[Callable[..., Made], str] = {}
    for n, made in known.items():
        first.setdefault(made, n)
    if _plain(name) not in plain:
        raise ValueError(f"no {what} is called {name!r}{did_you_mean(name, first.values())}")
    made = plain[_plain(name)]
    parameters = inspect.signature(made).parameters.values()
    settings = {
        p.name.lower(): p.name for p in parameters if p.kind is p.KEYWORD_ONLY or p.default is not p.empty
    }
    if unknown := [option for option in options if option.lower() not in settings]:
        has = ", ".join(settings.values()) or "none"
        raise ValueError(f"{first[made]} has no option {unknown[0]!r}; its options are: {has}")
    return made, {settings[option.lower()]: value for option, value in options.items()}


def parse_named(text: str, classes: Iterable[type[NamedMade]], what: str) -> NamedMade:
    """An object of the class that `text` names by its name, class name or an alias, with the options."""
    known = {name: each for each in classes for name in (each.name, each.__name__, *each.aliases)}
    chosen, options = choose(text, known, what)
    return chosen(**options)


def spell(name: str, settings: Any) -> str:
    """The name with the settings of a dataclass that differ from their defaults, as `choose` reads it."""
    shown = [f for f in fields(settings) if f.repr]
    values = {f.name: (getattr(settings, f.name), f.default) for f in shown}
    changed = [f"{key}={value!r}" for key, (value, default) in values.items() if value != default]
    return f"{name}[{','.join(changed)}]" if changed else name


def _split(text: str, what: str) -> tuple[str, dict[str, Any]]:
    match = re.fullmatch(r"\s*([\w\s-]+?)\s*(?:\[(.*)\])?\s*", text, re.DOTALL)
    if match is None:
        raise ValueError(f"{text!r} is not a {what}; write name or name[option=value,...]")
    name, options = match.groups()
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
