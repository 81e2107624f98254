"""What the handlers of protocols and applications can read and do: time, random numbers, timers."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import log
from struct import Struct
from typing import Any, Callable, TypeVar

T = TypeVar("T")

# Kinds of effects that both have.
SET_TIMER, CLEAR_TIMER = 5, 6

_NUMBER = Struct("<BQ")
_TIMER = Struct("<BQQ")


def nanoseconds(seconds: float) -> int:
    """A time in nanoseconds, rounded."""
    return int(seconds * 1e9 + 0.5)


class HandlerCx:
    """The context of a node's handlers.

    Effects are carried out in order after the handler has returned.
    """

    __slots__ = ("address", "now_ns", "_effects", "_words", "_more", "_keys", "_numbers", "_next")

    def __init__(self, address: str, more: Callable[[HandlerCx], None]) -> None:
        self.address: str = address
        """This node's address."""
        self.now_ns: int = 0
        """The time, nanoseconds."""
        self._effects: list[bytes] = []
        self._words: deque[int] = deque()
        self._more = more
        self._keys: dict[int, Any] = {}
        self._numbers: dict[Any, int] = {}
        self._next = 1

    @property
    def now(self) -> float:
        """The time in seconds since the run began. It is virtual in a simulation."""
        return self.now_ns / 1e9

    def bits(self) -> int:
        """64 random bits from this node's stream."""
        if not self._words:
            self._more(self)
        return self._words.popleft()

    def random(self) -> float:
        """A random number from 0 to below 1."""
        return (self.bits() >> 11) * 2.0**-53

    def uniform(self, low: float, high: float) -> float:
        """A random number from low to below high."""
        return low + (high - low) * self.random()

    def exponential(self, mean: float) -> float:
        """A random number from the exponential distribution with this mean."""
        return -mean * log(1 - self.random())

    def below(self, count: int) -> int:
        """A random whole number from 0 to count - 1."""
        return self.bits() * count >> 64

    def choice(self, items: Sequence[T]) -> T:
        """One of the items, at random."""
        return items[self.below(len(items))]

    def set_timer(self, key: Any, delay: float) -> None:
        """Call ``on_timer`` with this key in ``delay`` seconds. Setting a key again moves its timer.

        The key is any hashable object: a string, or a tuple such as ``("retry", address)``.
        """
        number = self._numbers.get(key)
        if number is None:
            number = self._next
            self._next += 1
            self._numbers[key], self._keys[number] = number, key
        self._effects.append(_TIMER.pack(SET_TIMER, number, self.now_ns + nanoseconds(delay)))

    def clear_timer(self, key: Any) -> None:
        """Cancel a timer, if it is set."""
        number = self._numbers.pop(key, None)
        if number is not None:
            del self._keys[number]
            self._effects.append(_NUMBER.pack(CLEAR_TIMER, number))

    def _fired(self, number: int) -> Any:
        key = self._keys.pop(number)
        del self._numbers[key]
        return key

    def _enter(self, now_ns: int, queued: int, flags: int) -> None:
        """A call begins."""
        self.now_ns = now_ns
