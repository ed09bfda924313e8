"""TASKS.md as data: parsing with located problems, and writing states back."""

from recall.tasklist.export import render_status
from recall.tasklist.listing import TaskList, as_json, runnable
from recall.tasklist.parse import parse
from recall.tasklist.problem import Problem, Severity

__all__ = ["Problem", "Severity", "TaskList", "as_json", "parse", "render_status", "runnable"]
