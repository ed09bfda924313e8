"""Twelve scripted agents that behave at random, and leave a token wherever they committed work."""

from __future__ import annotations

from tests.support.workshop import Workshop

AGENTS = 12

#: `$1` is what a run does. A token stands in a commit's message; once the commit is made it is noted in `tokens`, so
#: whatever is noted there must be found again somewhere. In a calm project (`calm` exists) every run succeeds.
_BODY = """\
HERE=@HOME@
TOKEN=$(od -An -N8 -tx1 /dev/urandom | tr -d ' \\n')
work() { echo "$TASK $TOKEN" >> "$TASK.txt"; git add -A; commit "work $TOKEN" && echo "$TOKEN" >> "$HERE/tokens"; }
stray() { (setsid sh -c 'sleep 600' >/dev/null 2>&1 &); }
ROLL=$((RANDOM % 100))
if [ -e "$HERE/calm" ]; then ROLL=0; else sleep "$((RANDOM % 3)).$((RANDOM % 10))"; fi
if [ $ROLL -lt 45 ]; then work; success
elif [ $ROLL -lt 52 ]; then echo "$TASK $TOKEN" >> "$TASK.txt"; success "left to be committed"
elif [ $ROLL -lt 58 ]; then work; failure "could not finish"
elif [ $ROLL -lt 63 ]; then work; exit 3
elif [ $ROLL -lt 68 ]; then work; echo "Error: HTTP 429 usage_limit_reached, try again in 2 seconds"; exit 1
elif [ $ROLL -lt 72 ]; then work; $ASK "which way?"
elif [ $ROLL -lt 77 ]; then stray; work; success
elif [ $ROLL -lt 83 ]; then echo "$TASK $TOKEN" > shared.txt; work; success "wrote the shared file"
elif [ $ROLL -lt 86 ]; then work; kill -9 $$
elif [ $ROLL -lt 92 ]; then work; sleep $((RANDOM % 8)); success
elif [ $ROLL -lt 95 ]; then git checkout -q -b "own-$TOKEN"; work; success "on a branch of its own"
elif [ $ROLL -lt 97 ]; then work; rm -f .git; success "took its repository away"
else success "nothing to do"
fi
"""


def hire(shop: Workshop) -> None:
    for number in range(AGENTS):
        shop.agent(f"a{number}", _BODY.replace("@HOME@", str(shop.home)))
