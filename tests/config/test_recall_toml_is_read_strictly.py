"""recall.toml either loads to exactly what it says, or every problem in it is named with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from recall.config.load import load_settings
from recall.config.settings import LeaseSettings, Settings, TaskList
from recall.domain.errors import ConfigError
from recall.domain.usage import LimitPatterns

DESIGN = """\
main = "trunk"
tasks = ["TASKS.md"]            # region = file's stem
verify = "pytest -q"
verify_timeout = "30m"
setup = ""
[lease]
ttl = "4m"
[limits]
margin = "1m"
default = "30m"
[run]
timeout = "2h"
stall = "20m"
attempts = 3
max_interruptions = 5
grace = "10s"
[workspaces]
kind = "worktree"
keep = []
root = ".recall"
[merge]
window = 1
land = "squash"
[sandbox]
[agents.claude]
preset = "claude"
parallel = 2
types = ["backend"]
[agents.mine]
command = ["./agent.sh"]
prompt = "file"
"""


def _load(tmp_path: Path, text: str) -> Settings:
    file = tmp_path / "recall.toml"
    file.write_text(text, encoding="utf-8")
    return load_settings(file)


def _problems(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, text)
    return [line.removeprefix(f"{tmp_path}/") for line in str(caught.value).splitlines()]


def test_the_shape_of_the_design_loads(tmp_path: Path) -> None:
    settings = _load(tmp_path, DESIGN)
    assert (settings.main, settings.verify, settings.verify_timeout) == ("trunk", "pytest -q", 1800.0)
    assert settings.lease == LeaseSettings(ttl=240.0)
    assert settings.merge.land == "squash"
    claude, mine = settings.agents
    assert (claude.preset, claude.command, claude.parallel, claude.types) == ("claude", (), 2, ("backend",))
    assert claude.given == ("preset", "parallel", "types")
    assert (mine.command, mine.prompt, mine.preset) == (("./agent.sh",), "file", "")


def test_only_verify_has_no_default(tmp_path: Path) -> None:
    settings = _load(tmp_path, 'verify = "true"\n')
    assert settings == Settings(file=tmp_path / "recall.toml", main="main", verify="true")


def test_the_caller_may_know_the_main_branch_better(tmp_path: Path) -> None:
    file = tmp_path / "recall.toml"
    file.write_text('verify = "true"\n')
    assert load_settings(file, main_default=lambda: "master").main == "master"
    file.write_text('verify = "true"\nmain = "dev"\n')
    assert load_settings(file, main_default=lambda: "master").main == "dev"


def test_verify_must_be_spelled_out(tmp_path: Path) -> None:
    assert _load(tmp_path, 'verify = "none"\n').verify is None
    (problem,) = _problems(tmp_path, 'main = "main"\n')
    assert 'verify = "none"' in problem
    (problem,) = _problems(tmp_path, 'verify = ""\n')
    assert problem.startswith("recall.toml:1: verify ")


@pytest.mark.parametrize(
    ("written", "lists"),
    [
        ('["TASKS.md"]', (TaskList("main", "TASKS.md"),)),
        ('["TASKS.md", "web/front.md"]', (TaskList("main", "TASKS.md"), TaskList("front", "web/front.md"))),
        (
            '{ main = "todo.md", web = "web/TASKS.md" }',
            (TaskList("main", "todo.md"), TaskList("web", "web/TASKS.md")),
        ),
    ],
)
def test_task_lists_have_a_region_each(tmp_path: Path, written: str, lists: tuple[TaskList, ...]) -> None:
    assert _load(tmp_path, f'verify = "none"\ntasks = {written}\n').tasks == lists


@pytest.mark.parametrize(
    "written", ['["a/TASKS.md", "TASKS.md"]', '["/etc/T.md"]', '["../T.md"]', "[]", '["a b.md"]']
)
def test_task_lists_that_cannot_work_are_refused(tmp_path: Path, written: str) -> None:
    (problem,) = _problems(tmp_path, f'verify = "none"\ntasks = {written}\n')
    assert problem.startswith("recall.toml:2: tasks is ")


@pytest.mark.parametrize(
    ("written", "seconds"), [("90s", 90), ("30m", 1800), ("2h", 7200), ("1h30m", 5400), ("1d", 86400), ("1.5s", 1.5)]
)
def test_durations(tmp_path: Path, written: str, seconds: float) -> None:
    assert _load(tmp_path, f'verify = "none"\nverify_timeout = "{written}"\n').verify_timeout == seconds


@pytest.mark.parametrize("written", ["90", '"90"', '""', '"-5s"', '"5 minutes"', '"30m2h"', "true", '"0s"'])
def test_what_is_no_duration_is_refused(tmp_path: Path, written: str) -> None:
    (problem,) = _problems(tmp_path, f'verify = "none"\nverify_timeout = {written}\n')
    assert problem.startswith(f"recall.toml:2: verify_timeout is {written}, expected a duration")


@pytest.mark.parametrize(
    ("table", "key", "near"),
    [
        ("", "verfy_timeout", "verify_timeout"),
        ("run", "timout", "run.timeout"),
        ("merge", "windows", "merge.window"),
        ("agents.a", "comand", "agents.a.command"),
        ("", "leases", "lease"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_one(tmp_path: Path, table: str, key: str, near: str) -> None:
    head = f"[{table}]\n" if table else ""
    extra = 'preset = "claude"\n' if table.startswith("agents") else ""
    (problem,) = _problems(tmp_path, f'verify = "none"\n{head}{extra}{key} = "x"\n')
    assert problem.endswith(f"{key} is no key of recall.toml; did you mean {near}?")


def test_every_problem_is_told_at_once_with_its_line(tmp_path: Path) -> None:
    problems = _problems(
        tmp_path,
        """\
verify = \"\"\"
pytest -q  # = [not a key]
\"\"\"
tasks = [
  "TASKS.md",  # a comment with ] in it
]
explore = 2
[run]  # limits
"attempts" = 0
stal = "1m"
[merge]
window = 3
[agents."one".env]
A = 1
[agents.two]
parallel = 1
""",
    )
    assert [problem.split(": ")[0] for problem in problems] == [
        "recall.toml:7",
        "recall.toml:9",
        "recall.toml:10",
        "recall.toml:12",
        "recall.toml:13",
        "recall.toml:13",
        "recall.toml:15",
    ]
    assert "agents.two has neither preset nor command" in problems[-1]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('[agents.a]\npreset = "a"\nparallel = 0', "a whole number from 1 up"),
        ('[agents.a]\npreset = "a"\nenabled = "yes"', "true or false"),
        ('[agents.a]\ncommand = "./agent.sh"', "a list of program and arguments"),
        ("[agents.a]\ncommand = []", "a list of program and arguments"),
        ('[agents.a]\npreset = "a"\npatterns = { limit = ["("] }', "regular expressions"),
        ('[agents.a]\npreset = "a"\npatterns = { limits = [] }', '"limit", "credit"'),
        ('[agents."a/b"]\npreset = "a"', "use letters"),
        ('[workspaces]\nkeep = ["src/__pycache__"]', "without __pycache__"),
        ('[workspaces]\nkind = "copy"', '"worktree" or "clone"'),
        ('[merge]\nprotected = ["/etc/passwd"]', "paths inside the repository"),
        ('[merge]\nprotected = ["a/../.."]', "paths inside the repository"),
        ('[merge]\nprotected = ["."]', "paths inside the repository"),
        ('[sandbox]\nlevel = "jail"', '"landlock"'),
        ('[sandbox]\nlevel = "bwrap"', 'needs workspaces.kind = "clone"'),
        ('[sandbox]\nnetwork = "off"', 'level "none" cannot do'),
        ('[workspaces]\nkind = "clone"\n[sandbox]\nlevel = "user"', 'such as user = "recall-agent"'),
        ('[workspaces]\nkind = "clone"\n[sandbox]\nuser = "agents"', 'at sandbox.level "user": write both'),
        (
            '[workspaces]\nkind = "clone"\n[sandbox]\nlevel = "user"\nuser = "agents"\nwrite = ["/srv"]',
            "give the folders to agents with chown",
        ),
        ("[run]\ntranscript_cap = 10", "a size such as"),
        ('[lease]\nheartbeat = "4m"', "at least twice"),
        ("run = 3", "a table: write [run]"),
        ("agents = 3", "a table: write [agents]"),
    ],
)
def test_a_bad_value_says_what_was_expected(tmp_path: Path, line: str, expected: str) -> None:
    (problem,) = _problems(tmp_path, f'verify = "none"\n{line}\n')
    assert problem.startswith("recall.toml:")
    assert expected in problem


def test_what_is_no_toml_is_named_with_line_and_column(tmp_path: Path) -> None:
    (problem,) = _problems(tmp_path, 'verify = "none"\nmain = \n')
    assert problem.startswith("recall.toml:2:8: not TOML: ")
    (problem,) = _problems(tmp_path, 'verify = "none')
    assert problem.startswith("recall.toml:1:")


def test_a_missing_file_says_what_writes_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="recall init"):
        load_settings(tmp_path / "recall.toml")


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "recall.toml").write_bytes(b'verify = "\xff"\n')
    with pytest.raises(ConfigError, match="byte 10 is not UTF-8"):
        load_settings(tmp_path / "recall.toml")


def test_windows_line_ends_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    (tmp_path / "recall.toml").write_bytes(b'\xef\xbb\xbfverify = "true"\r\n[run]\r\nattempts = 0\r\n')
    with pytest.raises(ConfigError, match=r"recall\.toml:3: run\.attempts is 0"):
        load_settings(tmp_path / "recall.toml")


def test_escape_sequences_in_a_key_do_not_reach_the_message(tmp_path: Path) -> None:
    (problem,) = _problems(tmp_path, 'verify = "none"\n"\\u001b]0;x\\u0007k" = "\\u001b[2J"\n')
    assert "\x1b" not in problem
    assert "\x07" not in problem


def test_patterns_and_variables_of_an_agent(tmp_path: Path) -> None:
    settings = _load(
        tmp_path,
        'verify = "none"\n[agents.a]\npreset = "a"\nenv = { A = "1" }\npatterns = { limit = ["slow down"] }\n',
    )
    agent = settings.agents[0]
    assert dict(agent.env) == {"A": "1"}
    assert agent.patterns == LimitPatterns(limit=("slow down",))


def test_an_agent_may_bring_rules_for_its_events(tmp_path: Path) -> None:
    rule = 'events = [{ on = "say", fact = "said", take = { text = ["a", "b"] } }]'
    settings = _load(tmp_path, f'verify = "none"\n[agents.mine]\ncommand = ["x"]\n[agents.mine.stream]\n{rule}\n')
    (mine,) = settings.agents
    assert mine.stream == {"events": ({"on": "say", "fact": "said", "take": {"text": ("a", "b")}},)}


@pytest.mark.parametrize(
    ("stream", "words"),
    [
        ("3", "the name of a known agent"),
        ('{ events = [{ on = "x", fact = "sung" }] }', "stream event 1: it needs `on` and a `fact`"),
        ("{ events = 3 }", "the events of a stream are a list of tables"),
        ("{ quite = [] }", "a stream has no quite"),
    ],
)
def test_rules_that_cannot_be_read_are_refused_with_the_reason(tmp_path: Path, stream: str, words: str) -> None:
    (problem,) = _problems(tmp_path, f'verify = "none"\n[agents.mine]\ncommand = ["x"]\nstream = {stream}\n')
    assert problem.startswith("recall.toml:4: agents.mine.stream is ")
    assert words in problem
