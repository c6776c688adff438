"""Optional packages: the extra that installs each, and imports of modules that need them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

EXTRAS = {
    **dict.fromkeys(("torch", "sklearn", "safetensors", "PIL"), "learn"),
    **dict.fromkeys(("transformers", "wordllama"), "text"),
    "torchvision": "vision",
    **dict.fromkeys(("matplotlib", "jinja2"), "report"),
    **dict.fromkeys(("fastapi", "starlette", "pydantic", "uvicorn", "sqlalchemy", "alembic"), "service"),
    **dict.fromkeys(("psycopg", "multipart", "cryptography"), "service"),
    "pyarrow": "arrow",
    "boto3": "mturk",
    "numba": "fast",
    **dict.fromkeys(("dask", "distributed"), "scale"),
}


def missing_package_error(what: str, error: ModuleNotFoundError) -> ValueError:
    """An error that names the extra to install; raises the original error if no extra has the package."""
    package = (error.name or "").partition(".")[0]
    if package not in EXTRAS:
        raise error
    return ValueError(f'{what} needs {package}: pip install "crowdpilot[{EXTRAS[package]}]"')


def load_learning() -> Any:
    """The package `crowdpilot.learning`, if its packages are installed."""
    return load_part("learning", "learning")


def load_part(name: str, what: str) -> Any:
    """The module `crowdpilot.<name>`, if its packages are installed; else an error that `what` needs them."""
    try:
        return import_module(f"crowdpilot.{name}")
    except ModuleNotFoundError as error:
        raise missing_package_error(what, error) from None
