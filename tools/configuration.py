"""docs/CONFIG.md: every key of recall.toml, from the table that reads them."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields
from pathlib import Path

from recall.config.explain import toml_text
from recall.config.json_schema import json_schema
from recall.config.schema import AGENT, SECTIONS, TOP, Key, Section
from recall.config.settings import AgentSettings, Settings
from recall.config.values import Unfit
from recall.ui.commands import BENCH_COMMANDS, COMMANDS
from tools.markdown import code, page, table

_HEAD = """\
# recall.toml

Every key, made by `make docs` from the table that reads them (`config/schema.py`). `recall init` writes a
file with all of them as comments, and `recall config show` prints the values in force and the line each comes from.

Every key has a default but `verify`. An unknown key, or a value that is not what is expected, stops every command
with exit code 2, each problem with its line. The dispatcher reads the file once, when it starts. It lies in the
checkout; started in a linked worktree without one, Recall takes the main worktree's.

`recall config schema` prints a JSON schema of the file (it is also [here](recall.schema.json)). Kept beside
recall.toml and named in its first line, `#:schema ./recall.schema.json`, it lets Taplo and Even Better TOML complete
and check while you write, without a network.
"""

_AGENTS = """\
## [agents.NAME]

One table an agent. It needs `preset` or `command`; what is left open comes from the preset. Lists of variables and
patterns add to the preset's, and a command of your own is taken as it stands (`model` is then yours to pass).
[AGENTS.md](AGENTS.md) has the presets and how to add an agent of your own.
"""

_NOTES = """\
## More about some of them

- `tasks`: in a list, a file's stem is its region, and `TASKS` is `main`; a table names the regions,
  `{ main = "TASKS.md", web = "web/TASKS.md" }`. Files lie in the checkout, relative to recall.toml.
- `verify` and `setup` are shell commands. `setup` runs before an agent starts and again before each verification;
  `verify_timeout` holds for both.
- `lease.heartbeat` must fit into `lease.ttl` twice.
- `workspaces.kind`: a `worktree` shows each run's branch in your repository at once and shares its configuration and
  hooks; a `clone` borrows its objects and has no remote, so no ordinary git command in it can write to your
  repository. What does not land is kept under `refs/recall/parked/` with both.
- `workspaces.keep` takes patterns as in .gitignore; compiled Python (`__pycache__`) is refused.
- `ui.theme`: one of Recall's own, `recall-dark` and `recall-light`, or any of Textual's; the theme that a person
  chooses with `T` counts more. `ui.glyphs`: RECALL_GLYPHS in the environment counts more. `ui.keys`: the commands and
  their names are in [KEYS.md](KEYS.md).
- `sandbox.level`: [SECURITY.md](SECURITY.md) says what each level stops. A level other than `none` needs clones, and
  `user` needs `sandbox.user` and a dispatcher that runs as root. `sandbox.network = "off"` needs a level, too.
- `store.state_dir` should be an absolute path on a local disk; network file systems are refused.
"""

_SPELLED_OUT = {
    "main": "what `origin/HEAD` names, else `main`, `master`, or the branch of HEAD",
    "verify": "must be written",
    "agents.preset": "",
    "agents.command": "the preset's",
    "agents.resume_command": "the preset's",
    "agents.prompt": 'the preset\'s, else `"stdin"`',
}


def config_page() -> str:
    defaults = Settings(file=Path(), main="", verify=None)
    parts = [_HEAD, "## At the top of the file", _keys("", TOP, defaults)]
    parts += [_section(section) for section in SECTIONS]
    agent = {one.name: one.default for one in fields(AgentSettings) if one.default is not MISSING}
    parts += [_AGENTS, _keys("agents.", AGENT, AgentSettings(name="", command=(), **agent)), _NOTES]
    return page(*parts)


def schema_file() -> str:
    """docs/recall.schema.json, as `recall config schema` prints it."""
    return json.dumps(json_schema(one.id for one in (*COMMANDS, *BENCH_COMMANDS)), indent=2) + "\n"


def _section(section: Section) -> str:
    return page(f"## [{section.name}]", _keys(f"{section.name}.", section.keys, section.build()))


def _keys(prefix: str, keys: tuple[Key, ...], defaults: object) -> str:
    rows = [_row(f"{prefix}{key.name}", key, getattr(defaults, key.name)) for key in keys]
    return table(("key", "default", "meaning", "expected"), rows)


def _row(path: str, key: Key, default: object) -> tuple[str, ...]:
    shown = _SPELLED_OUT[path] if path in _SPELLED_OUT else code(toml_text(key, default))
    return code(key.name), shown, key.meaning, expected(key)


def expected(key: Key) -> str:
    """What a key wants, in the words in which it refuses anything else."""
    try:
        key.read(object())
    except Unfit as unfit:
        return str(unfit)
    raise ValueError(f"{key.name} takes anything")
