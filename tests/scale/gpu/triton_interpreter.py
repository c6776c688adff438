"""The operations of Triton that the kernel uses, on arrays of numpy: programs run one after the other."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor


class Pointer(NamedTuple):
    """An address, or an array of addresses, in the memory of a tensor."""

    memory: np.ndarray
    offset: Any = 0

    @property
    def dtype(self) -> Any:
        return SimpleNamespace(element_ty=self.memory.dtype)

    def __add__(self, offset: Any) -> Pointer:  # type: ignore[override]  # as pointers are added to
        return Pointer(self.memory, self.offset + np.asarray(offset))


class Block(np.ndarray):
    """An array as a block of Triton: a value, which no operation changes in place."""

    def to(self, dtype: Any) -> Block:
        return self.astype(dtype)

    def __imul__(self, other: Any) -> Block:  # type: ignore[misc,override]  # a new value
        return block(self * other)

    def __iadd__(self, other: Any) -> Block:  # type: ignore[misc,override]  # a new value
        return block(self + other)


def block(values: Any) -> Block:
    return np.asarray(values).view(Block)


class Interpreter:
    """Stands for `triton.language`; `program` is the number of the program that runs."""

    float64, int64 = np.float64, np.int64

    def __init__(self) -> None:
        self.program, self.programs = 0, 1

    def program_id(self, axis: int) -> Block:
        return block(np.int32(self.program))

    def num_programs(self, axis: int) -> int:
        return self.programs

    def arange(self, first: int, last: int) -> Block:
        return block(np.arange(first, last, dtype=np.int32))

    def zeros(self, shape: list[int], dtype: Any) -> Block:
        return block(np.zeros(shape, dtype))

    def load(self, pointer: Pointer, mask: Any, other: Any) -> Block:
        offset, inside = np.broadcast_arrays(pointer.offset, mask)
        values = np.full(offset.shape, other, pointer.memory.dtype)
        values[inside] = pointer.memory[offset[inside]]
        return block(values)

    def store(self, pointer: Pointer, values: Any, mask: Any = True) -> None:
        offset, inside, values = np.broadcast_arrays(pointer.offset, mask, values)
        pointer.memory[offset[inside]] = values[inside]

    def atomic_add(self, pointer: Pointer, values: Any, mask: Any, sem: str) -> None:
        offset, inside, values = np.broadcast_arrays(pointer.offset, mask, values)
        np.add.at(pointer.memory, offset[inside], values[inside])

    def where(self, condition: Any, values: Any, other: Any) -> Block:
        return block(np.where(condition, values, other))

    def max(self, values: Any, axis: int | None = None) -> Any:
        return block(np.max(values, axis=axis))

    def sum(self, values: Any, axis: int | None = None) -> Any:
        return block(np.sum(values, axis=axis))

    def abs(self, values: Any) -> Block:
        return block(np.abs(values))

    def exp(self, values: Any) -> Block:
        return block(np.exp(values))

    def log(self, values: Any) -> Block:
        with np.errstate(divide="ignore"):  # tiles are padded with tasks without states
            return block(np.log(values))


class InterpretedKernel:
    """A kernel that is launched as `kernel[grid](...)`, with tensors as pointers."""

    def __init__(self, function: Callable[..., None], language: Interpreter) -> None:
        self.function, self.language = function, language

    def __getitem__(self, grid: tuple[int]) -> Callable[..., None]:
        def launch(*args: Any, **constants: Any) -> None:
            pointers = [Pointer(a.view(-1).numpy()) if isinstance(a, Tensor) else np.int32(a) for a in args]
            self.language.programs = grid[0]
            for self.language.program in range(grid[0]):
                self.function(*pointers, **constants)

        return launch
