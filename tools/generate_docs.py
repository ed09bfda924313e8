"""`make docs`: write the documents, and the parts of documents, that are made from the code.

Whole files are STATES.md, CONFIG.md, KEYS.md, SCREENS.md and recall.schema.json. In other documents a part stands
between two comments, `<!-- made from the code: NAME -->` and `<!-- end -->`; the rest is written by hand.
"""

from __future__ import annotations

import ast
import inspect
import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path

from recall.agents.presets import Preset, load_preset, preset_names
from recall.cli.report import ExitCode
from recall.cli.root import COMMANDS
from tools.album import screens_page
from tools.configuration import config_page, schema_file
from tools.keys import keys_page
from tools.markdown import code, page, prose, table
from tools.states import states_page

DOCS = Path(__file__).parents[1] / "docs"

_PART = re.compile(r"(<!-- made from the code: (?P<name>[a-z ]+) -->\n).*?(<!-- end -->)", re.DOTALL)
_PROMPTS = {"stdin": "on standard input", "arg": "as the last argument", "file": "as a file's path"}
_CLASSES = ("limit", "credit", "transient", "auth")


def documents() -> dict[Path, str]:
    """Give every document that is made from the code, wholly or in part, as it should be."""
    whole = {DOCS / name: make() for name, make in PAGES.items()}
    written = (path for path in sorted(DOCS.glob("*.md")) if path not in whole)
    texts = {path: path.read_text("utf-8") for path in written}
    return whole | {path: with_parts(text, PARTS) for path, text in texts.items() if _PART.search(text)}


def with_parts(text: str, parts: Mapping[str, Callable[[], str]]) -> str:
    """Fill each marked part. Raises KeyError for a name that no part has."""
    return _PART.sub(lambda found: f"{found[1]}\n{parts[found['name']]().strip()}\n\n{found[3]}", text)


def exit_codes() -> str:
    """The exit codes with their meaning, which stands as a text below each member."""
    tree = ast.parse(inspect.getsource(ExitCode))
    (kind,) = (node for node in tree.body if isinstance(node, ast.ClassDef))
    meanings: dict[str, str] = {}
    for member, below in zip(kind.body, kind.body[1:], strict=False):
        if isinstance(member, ast.Assign) and isinstance(member.targets[0], ast.Name):
            meanings[member.targets[0].id] = _text(below)
    rows = [(str(each.value), meanings.get(each.name) or "Done.") for each in ExitCode]
    return table(("code", "meaning"), rows)


def commands() -> str:
    return table(("command", "what it does"), [(code(f"recall {name}"), row[2]) for name, row in COMMANDS.items()])


def presets() -> str:
    known = [load_preset(name) for name in preset_names()]
    heads = ("preset", "CLI", "prompt", "own wordings known of", "written from")
    return page(table(heads, [_preset_row(preset) for preset in known]), *map(_preset_notes, known))


def _preset_row(preset: Preset) -> tuple[str, ...]:
    classes = [name for name in _CLASSES if getattr(preset.patterns, name)]
    source = "little: partial" if preset.partial else "its help, source and documentation"
    return code(preset.name), preset.title, _PROMPTS[preset.prompt], ", ".join(classes) or "none", source


def _preset_notes(preset: Preset) -> str:
    lines = [f"- {code(preset.name)} runs {code(shlex.join(preset.argv()))}"]
    if preset.env:
        lines.append("  - sets " + ", ".join(code(f"{name}={value}") for name, value in preset.env.items()))
    if preset.env_pass:
        lines.append("  - is passed " + ", ".join(map(code, preset.env_pass)))
    return "\n".join(lines + [f"  - {note}" for note in preset.notes])


def _text(node: ast.stmt) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return prose(node.value.value)
    return ""


PAGES: Mapping[str, Callable[[], str]] = {
    "STATES.md": states_page,
    "CONFIG.md": config_page,
    "KEYS.md": keys_page,
    "SCREENS.md": screens_page,
    "recall.schema.json": schema_file,
}
PARTS: Mapping[str, Callable[[], str]] = {"exit codes": exit_codes, "commands": commands, "presets": presets}


def main() -> None:
    """Write what differs."""
    for path, text in documents().items():
        if not path.is_file() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
