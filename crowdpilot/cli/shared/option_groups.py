"""Groups of options: a dataclass of options that a command takes as one argument."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def expand_options(command: Callable[..., None]) -> Callable[..., None]:
    """The same command, with the options of each group in place of the parameter that holds the group.

    A group is a dataclass whose fields are annotated like the parameters of a command. The command is
    called with one object of each group, made from the options that the user has set.
    """
    signature = inspect.signature(command, eval_str=True)
    annotations: dict[str, Any] = {p.name: p.annotation for p in signature.parameters.values()}
    groups: dict[str, Any] = {
        name: annotation for name, annotation in annotations.items() if is_dataclass(annotation)
    }

    @wraps(command)
    def run(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        command(**values)

    parameters = [
        expanded.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in signature.parameters.values()
        for expanded in (_options_of(groups[parameter.name]) if parameter.name in groups else [parameter])
    ]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # functions have one
    return run


def _options_of(group: Any) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        kind = inspect.Parameter.KEYWORD_ONLY
        yield inspect.Parameter(field.name, kind, default=field.default, annotation=hints[field.name])
