# SPDX-License-Identifier: MIT
"""The simulated driver of this process, if it has one: what tests leave in it."""

import ctypes
import json
from typing import Any, Dict, List, Optional, Tuple

ENGINE = "libcushim-sim-engine.so"
SIZE = 4096
Counts = Dict[str, Tuple[int, int]]  # of each kind: how many, how many bytes


def _engine() -> Optional[Any]:
    """The function of the engine that is loaded."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
            path = next((line[line.index("/"):].rstrip("\n") for line in file if ENGINE in line),
                        None)
        return ctypes.CDLL(path).cushim_sim_left if path else None
    except (OSError, AttributeError):
        return None


class Left:
    """What each test left. All counts are 0 without a simulated driver."""

    def __init__(self) -> None:
        self._function: Optional[Any] = None
        self._before: Counts = {}
        self._found = 0
        self._tests: List[Tuple[str, str, int, int]] = []

    def _ask(self) -> Dict[str, Any]:
        self._function = self._function or _engine()
        text = ctypes.create_string_buffer(SIZE)
        if self._function is None or not self._function(text, ctypes.c_size_t(SIZE)):
            return {"found_in_kernels": 0, "left": {}}
        answer: Dict[str, Any] = json.loads(text.value)
        return answer

    def found(self) -> int:
        """How many faults the checks of kernels found since the test began."""
        return int(self._ask()["found_in_kernels"]) - self._found

    def _counts(self) -> Counts:
        return {kind: (value["blocks"], value["bytes"]) if kind == "memory" else (value, 0)
                for kind, value in self._ask()["left"].items()}

    def begin(self) -> None:
        """A test begins."""
        self._found = 0
        self._found = self.found()
        self._before = self._counts()

    def end(self, test: str) -> None:
        """It ended, and its fixtures were torn down."""
        for kind, (count, size) in self._counts().items():
            before = self._before.get(kind, (0, 0))
            if count > before[0]:
                self._tests.append((test, kind, count - before[0], size - before[1]))

    def lines(self) -> List[str]:
        """A line for each kind that a test left, and of which something is left now."""
        now = self._counts()
        return [f"{test} left {size} bytes of memory in {count} block{'s' * (count != 1)}"
                if kind == "memory" else
                f'{test} left objects of the kind "{kind}": {count}'
                for test, kind, count, size in self._tests if kind in now]
