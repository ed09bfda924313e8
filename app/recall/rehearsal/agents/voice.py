"""How a scripted agent tells what it does: in plain lines, or in events in the shape of Claude Code's."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

#: What a token costs in US dollars, read and written, if this were a model.
_PRICE_IN, _PRICE_OUT = 3e-5, 15e-5
_CHARACTERS_A_TOKEN = 4


class Voice:
    """`events` chooses; either way each thing is printed when it happens."""

    def __init__(self, prompt: str, *, events: bool) -> None:
        self._events = events
        self._session = str(uuid.uuid4())
        self._read = len(prompt)
        self._written = 0
        self._calls = 0
        if events:
            self._print({"type": "system", "subtype": "init", "session_id": self._session, "cwd": str(Path.cwd())})

    def say(self, text: str) -> None:
        self._written += len(text)
        if self._events:
            self._answer({"type": "text", "text": text})
        else:
            print(text, flush=True)

    def use(self, tool: str, plain: str, **given: str) -> None:
        """Tell of a tool's use, before it; `plain` is the line that says so without events."""
        self._written += sum(map(len, given.values()))
        self._calls += 1
        if self._events:
            self._answer({"type": "tool_use", "id": f"call-{self._calls}", "name": tool, "input": given})
        else:
            print(plain, flush=True)

    def give(self, text: str, *, failed: bool = False) -> None:
        """Tell what the tool that was told of last gave back."""
        self._read += len(text)
        if self._events:
            result = {
                "type": "tool_result",
                "tool_use_id": f"call-{self._calls}",
                "content": text,
                "is_error": failed,
            }
            self._print({"type": "user", "message": {"role": "user", "content": [result]}})
        elif text:
            print(text, flush=True)

    def end(self, *, failed: bool = False) -> None:
        if not self._events:
            return
        read, written = self._read // _CHARACTERS_A_TOKEN, self._written // _CHARACTERS_A_TOKEN
        self._print(
            {
                "type": "result",
                "subtype": "success",
                "is_error": failed,
                "result": "",
                "session_id": self._session,
                "usage": {"input_tokens": read, "output_tokens": written},
                "total_cost_usd": round(read * _PRICE_IN + written * _PRICE_OUT, 6),
            }
        )

    def _answer(self, content: dict[str, object]) -> None:
        message = {"id": f"answer-{self._written}", "role": "assistant", "content": [content]}
        self._print({"type": "assistant", "message": message, "session_id": self._session})

    def _print(self, event: dict[str, object]) -> None:
        print(json.dumps(event), flush=True)
