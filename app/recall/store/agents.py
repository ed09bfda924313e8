"""The agents' rows: who may start something, how far each is trusted."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from recall.domain.agent import Agent, AgentChoice, AgentSpec, Weight
from recall.domain.run import Refused, RunResult
from recall.domain.text import clean
from recall.store import events
from recall.store.transaction import Rows, Transaction

if TYPE_CHECKING:
    from recall.domain.outcome import Settlement

_UPSERT = """
INSERT INTO agents (name, configured, enabled, parallel, types, account)
VALUES (:name, 1, :enabled, :parallel, :types, :account)
ON CONFLICT (name) DO UPDATE
SET configured = 1, listed = 1, enabled = :enabled, parallel = :parallel, types = :types, account = :account
"""
_FORGET = """
UPDATE agents SET enabled = 0, listed = 0, chosen_enabled = NULL, chosen_parallel = NULL WHERE name = :name
"""
_CHOOSE = "UPDATE agents SET chosen_enabled = :enabled, chosen_parallel = :parallel WHERE name = :name"
_COOL = """
UPDATE agents SET cooling_until = max(ifnull(cooling_until, 0), :until), cooling_reason = :reason,
  cooling_line = :line, limits_in_a_row = CASE WHEN :unreadable THEN limits_in_a_row + 1 ELSE 0 END
WHERE name = :name OR (account <> '' AND account = (SELECT account FROM agents WHERE name = :name))
RETURNING name, cooling_until
"""
_COOL_UNTIL = """
UPDATE agents SET cooling_until = :until, cooling_reason = :reason, cooling_line = ''
WHERE name = :name OR (account <> '' AND account = (SELECT account FROM agents WHERE name = :name))
RETURNING name
"""
_LIFT = """
UPDATE agents SET cooling_until = NULL, cooling_reason = '', cooling_line = '', limits_in_a_row = 0,
  suspicions = 0, quick_failures = '[]'
WHERE cooling_until > :now
  AND (name = :name OR (account <> '' AND account = (SELECT account FROM agents WHERE name = :name)))
RETURNING name
"""
#: Who joins an account shares the limit that it is at.
_JOIN = """
UPDATE agents SET cooling_until = mate.cooling_until, cooling_reason = mate.cooling_reason,
  cooling_line = mate.cooling_line
FROM (SELECT * FROM agents WHERE suspicions = 0 AND cooling_until > :now ORDER BY cooling_until DESC) AS mate
WHERE agents.name = :name AND mate.name <> :name AND mate.account = agents.account
  AND ifnull(agents.cooling_until, 0) < mate.cooling_until
"""
_WEIGH = """
INSERT INTO agent_weights (agent, type, value, landed, failed)
VALUES (:agent, :type, round(min(1, max(0, :start + :delta)), 4), :landed, :failed)
ON CONFLICT (agent, type) DO UPDATE SET value = round(min(1, max(0, value + :delta)), 4),
  landed = landed + :landed, failed = failed + :failed
"""

_SET_WEIGHT = """
INSERT INTO agent_weights (agent, type, value, landed, failed) VALUES (:agent, :type, :value, 0, 0)
ON CONFLICT (agent, type) DO UPDATE SET value = :value
"""


def agent_of(row: sqlite3.Row, running: int, weights: dict[str, Weight]) -> Agent:
    return Agent(
        name=row["name"],
        enabled=is_enabled(row),
        parallel=row["parallel"] if row["chosen_parallel"] is None else row["chosen_parallel"],
        types=tuple(json.loads(row["types"])),
        account=row["account"],
        paused=bool(row["paused"]),
        paused_reason=row["paused_reason"],
        cooling_until=row["cooling_until"],
        cooling_reason=row["cooling_reason"],
        cooling_line=row["cooling_line"],
        limits_in_a_row=row["limits_in_a_row"],
        suspicions=row["suspicions"],
        stopped_reason=row["stopped_reason"],
        running=running,
        driven=not row["configured"],
        listed_enabled=bool(row["enabled"]),
        listed_parallel=row["parallel"],
        chosen_enabled=None if row["chosen_enabled"] is None else bool(row["chosen_enabled"]),
        chosen_parallel=row["chosen_parallel"],
        weights=weights,
    )


def is_enabled(row: sqlite3.Row) -> bool:
    """What a person chose wins over recall.toml."""
    return bool(row["enabled"] if row["chosen_enabled"] is None else row["chosen_enabled"])


def row_of(rows: Rows, name: str) -> sqlite3.Row | None:
    return rows.one("SELECT * FROM agents WHERE name = :name", {"name": name})


def introduce(tx: Transaction, name: str) -> sqlite3.Row | None:
    """Make a row for an agent that there is none of: one that a person drives."""
    tx.change("INSERT INTO agents (name, configured) VALUES (:name, 0)", {"name": name})
    events.append(tx, "agent.added", actor="store", agent=name, reason="made itself known by claiming")
    return row_of(tx, name)


def why_not(row: sqlite3.Row | None, name: str, now: float) -> str:
    """Say why this agent may start nothing at all at wall second `now`; empty: it may."""
    if row is None:
        return f"there is no agent {name}: add it to recall.toml"
    if not is_enabled(row):
        return f"{name} is disabled {'by you' if row['chosen_enabled'] is not None else 'in recall.toml'}"
    if row["stopped_reason"]:
        return f"{name} is stopped until a person acts: {row['stopped_reason']}"
    if row["paused"]:
        return f"{name} is paused" + (f": {row['paused_reason']}" if row["paused_reason"] else "")
    if row["cooling_until"] is not None and row["cooling_until"] > now:
        until = datetime.fromtimestamp(row["cooling_until"], UTC)
        return f"{name} is cooling until {until:%Y-%m-%d %H:%M} UTC"
    return ""


def sync(tx: Transaction, specs: Sequence[AgentSpec]) -> None:
    for spec in specs:
        _sync_one(tx, spec)
    wanted = {spec.name for spec in specs}
    for row in tx.all("SELECT name FROM agents WHERE configured = 1 AND listed = 1"):
        if row["name"] not in wanted:
            tx.change(_FORGET, {"name": row["name"]})
            events.append(tx, "agent.removed", actor="dispatcher", agent=row["name"], reason="not in recall.toml now")


def _sync_one(tx: Transaction, spec: AgentSpec) -> None:
    values = {
        "name": spec.name,
        "enabled": int(spec.enabled),
        "parallel": spec.parallel,
        "types": json.dumps(spec.types),
        "account": spec.account,
    }
    before = row_of(tx, spec.name)
    if (
        before
        and before["configured"]
        and before["listed"]
        and all(before[key] == value for key, value in values.items())
    ):
        return
    tx.change(_UPSERT, values)
    if spec.account:
        tx.change(_JOIN, {"name": spec.name, "now": tx.now.wall})
    kind = "agent.changed" if before else "agent.added"
    events.append(tx, kind, actor="dispatcher", agent=spec.name, reason="as recall.toml says")


def pause(tx: Transaction, name: str, actor: str, reason: str) -> Refused | None:
    row = row_of(tx, name)
    if row is None:
        return Refused(f"there is no agent {name}")
    if row["paused"]:
        return Refused(f"{name} is paused already")
    tx.change(
        "UPDATE agents SET paused = 1, paused_reason = :reason WHERE name = :name", {"name": name, "reason": reason}
    )
    events.append(tx, "agent.paused", actor=actor, agent=name, reason=reason)
    return None


def resume(tx: Transaction, name: str, actor: str) -> Refused | None:
    row = row_of(tx, name)
    if row is None:
        return Refused(f"there is no agent {name}")
    lifted = _lifted(row, tx.now.wall)
    if not lifted:
        return Refused(f"nothing holds {name} back")
    tx.change(
        "UPDATE agents SET paused = 0, paused_reason = '', stopped_reason = '', suspicions = 0, "
        "quick_failures = '[]' WHERE name = :name",
        {"name": name},
    )
    mates = [row["name"] for row in tx.all(_LIFT, {"name": name, "now": tx.now.wall}) if row["name"] != name]
    events.append(tx, "agent.resumed", actor=actor, agent=name, before=lifted)
    for mate in mates:
        events.append(tx, "agent.cooldown_lifted", actor=actor, agent=mate, reason=f"shares the account of {name}")
    return None


def choose(tx: Transaction, name: str, choice: AgentChoice, actor: str) -> Refused | None:
    """Let what a person wants of an agent win over recall.toml; what the choice leaves open stays."""
    row = row_of(tx, name)
    if row is None:
        return Refused(f"there is no agent {name}")
    if not (row["configured"] and row["listed"]):
        return Refused(f"{name} is not in recall.toml: nothing is started for it")
    if choice.parallel is not None and choice.parallel < 1:
        return Refused(f"{name} cannot run {choice.parallel} at once: give 1 or more, or disable it")
    before = AgentChoice(_maybe(row["chosen_enabled"]), row["chosen_parallel"])
    after = choice if choice.is_reset else before.with_(choice)
    if after == before:
        return Refused(f"{name} is {_words(after)} already")
    tx.change(_CHOOSE, {"name": name, "enabled": after.enabled, "parallel": after.parallel})
    events.append(tx, "agent.chosen", actor=actor, agent=name, before=_words(before), after=_words(after))
    return None


def set_weight(tx: Transaction, name: str, type_: str, value: float | None, actor: str) -> Refused | None:
    """Trust an agent with a task type as a person says; None forgets its whole record of that type."""
    from recall.domain.outcome import WEIGHT_START

    if row_of(tx, name) is None:
        return Refused(f"there is no agent {name}")
    if value is not None and not 0 <= value <= 1:
        return Refused(f"{value:g} is no weight: give a number from 0 to 1")
    names = {"agent": name, "type": type_}
    found = tx.all("SELECT value FROM agent_weights WHERE agent = :agent AND type = :type", names)
    if value is None:
        if not found:
            return Refused(f"{name} has no record of {type_}")
        tx.change("DELETE FROM agent_weights WHERE agent = :agent AND type = :type", names)
    else:
        tx.change(_SET_WEIGHT, names | {"value": round(value, 4)})
    before = found[0]["value"] if found else WEIGHT_START
    after = WEIGHT_START if value is None else value
    events.append(
        tx, "agent.weighed", actor=actor, agent=name, before=f"{before:.4g}", after=f"{after:.4g}", reason=type_
    )
    return None


def _maybe(flag: int | None) -> bool | None:
    return None if flag is None else bool(flag)


def _words(choice: AgentChoice) -> str:
    words = [] if choice.enabled is None else ["enabled" if choice.enabled else "disabled"]
    words += [] if choice.parallel is None else [f"{choice.parallel} at once"]
    return ", ".join(words) or "as recall.toml says"


def cool(tx: Transaction, name: str, until: float, actor: str, reason: str) -> Refused | None:
    """Let an agent, and all others of its account, start nothing before wall second `until`."""
    if row_of(tx, name) is None:
        return Refused(f"there is no agent {name}")
    if until <= tx.now.wall:
        return Refused(f"{name} cannot cool until {_moment(until)}: that is over")
    values = {"name": name, "until": until, "reason": clean(reason)}
    for row in tx.all(_COOL_UNTIL, values):
        events.append(tx, "agent.cooling", actor=actor, agent=row["name"], after=_moment(until), reason=reason)
    return None


def lift_cooldown(tx: Transaction, name: str, actor: str) -> Refused | None:
    """End the cooldown of an agent and of all others of its account: they share the limit."""
    row = row_of(tx, name)
    if row is None:
        return Refused(f"there is no agent {name}")
    if row["cooling_until"] is None or row["cooling_until"] <= tx.now.wall:
        return Refused(f"{name} is not cooling")
    for lifted in tx.all(_LIFT, {"name": name, "now": tx.now.wall}):
        events.append(tx, "agent.cooldown_lifted", actor=actor, agent=lifted["name"])
    return None


def _lifted(row: sqlite3.Row, now: float) -> str:
    cooling = row["cooling_until"] is not None and row["cooling_until"] > now
    held = (
        ("paused", row["paused"]),
        ("cooling", cooling),
        ("stopped", row["stopped_reason"]),
        ("suspected", row["suspicions"]),
    )
    return ", ".join(word for word, holds in held if holds)


def take_settlement(tx: Transaction, name: str, type_: str, run_id: int, settlement: Settlement) -> None:
    """Carry out what a settled run means for its agent: weight, cooldown of the account, stop."""
    if settlement.weight:
        _weigh(tx, name, type_, settlement)
    if settlement.cooling_until is not None:
        _cool(tx, name, run_id, settlement)
    if settlement.result is RunResult.LANDED:
        tx.change("UPDATE agents SET limits_in_a_row = 0 WHERE name = :name", {"name": name})
    if settlement.agent_paused:
        pause(tx, name, "dispatcher", settlement.agent_paused)
    if settlement.agent_stopped:
        reason = settlement.agent_stopped
        tx.change("UPDATE agents SET stopped_reason = :reason WHERE name = :name", {"name": name, "reason": reason})
        events.append(tx, "agent.stopped", actor="dispatcher", agent=name, run_id=run_id, reason=reason)


def _weigh(tx: Transaction, name: str, type_: str, settlement: Settlement) -> None:
    from recall.domain.outcome import WEIGHT_START

    tx.change(
        _WEIGH,
        {
            "agent": name,
            "type": type_,
            "start": WEIGHT_START,
            "delta": settlement.weight,
            "landed": int(settlement.result is RunResult.LANDED),
            "failed": int(settlement.weight < 0),
        },
    )


def _cool(tx: Transaction, name: str, run_id: int, settlement: Settlement) -> None:
    cooled = tx.all(
        _COOL,
        {
            "name": name,
            "until": settlement.cooling_until,
            "reason": settlement.reason,
            "line": settlement.cooling_line,
            "unreadable": int(settlement.unreadable_limit),
        },
    )
    for row in cooled:
        events.append(
            tx,
            "agent.cooling",
            actor="dispatcher",
            agent=row["name"],
            run_id=run_id,
            after=_moment(row["cooling_until"]),
            reason=settlement.reason,
        )


def _moment(wall: float) -> str:
    return datetime.fromtimestamp(wall, UTC).isoformat(timespec="seconds")
