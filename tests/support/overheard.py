"""A dispatcher's output while it runs, read by a thread, so that nothing waits longer than it says.

with shop.dispatching() as process:
    dispatcher = Overheard(process)
    dispatcher.says("task done")
    assert dispatcher.stop() == 0
"""

from __future__ import annotations

import subprocess
import threading
import time


class Overheard:
    """Everything that `process` prints, from now on."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._lines: list[str] = []
        self._from = 0
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    @property
    def said(self) -> str:
        return "".join(self._lines)

    def says(self, words: str, seconds: float = 30.0) -> None:
        """Wait for the next line with these words; an AssertionError with everything said when none comes."""
        deadline = time.monotonic() + seconds
        while True:
            ended = not self._thread.is_alive()
            while self._from < len(self._lines):
                self._from += 1
                if words in self._lines[self._from - 1]:
                    return
            assert not ended, f"ended without saying {words!r}:\n{self.said}"
            assert time.monotonic() < deadline, f"did not say {words!r} within {seconds:g} s:\n{self.said}"
            time.sleep(0.02)

    def stop(self, seconds: float = 30.0) -> int:
        """Ask for its end and give the exit code."""
        self._process.terminate()
        return self.ends(seconds)

    def ends(self, seconds: float = 30.0) -> int:
        """Wait for its end and give the exit code."""
        try:
            code = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"did not end within {seconds:g} s:\n{self.said}") from None
        self._thread.join()
        return code

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.append(line)
