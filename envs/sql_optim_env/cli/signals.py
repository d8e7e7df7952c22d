"""A run that a signal ends in good order: what was begun is finished, what was started is stopped."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType

__all__ = ["Signals", "Stopped"]


class Stopped(BaseException):
    """SIGINT or SIGTERM asked for the end."""


class Signals:
    """Turns the first SIGINT or SIGTERM into :class:`Stopped`. Later ones are ignored: what they ask for is already under way.

    Owned by the main thread, for the rest of the process. ``number`` is that of the signal, None until one came.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        self._held = False
        self._due = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._arrived)

    def _arrived(self, number: int, frame: FrameType | None) -> None:
        if self.number is not None:
            return
        self.number = number
        if self._held:
            self._due = True
        else:
            raise Stopped

    def whole(self, act: Callable[[], None]) -> None:
        """Do something that a signal must not cut in two; one that comes meanwhile counts afterwards. May be nested."""
        already, self._held = self._held, True
        try:
            act()
        finally:
            self._held = already
        if self._due and not already:
            self._due = False
            raise Stopped
