"""The user's branches and other refs, as whoever makes and parks workspaces sees them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from recall.domain.frozen import frozen
from recall.gitops.command import Finished, run_git
from recall.gitops.refs import read_ref


@frozen
class UserRefs:
    """`common_dir` is the user's git dir, `main` a full ref name."""

    common_dir: Path
    main: str

    def git(self, *args: str, stdin: bytes = b"", check: bool = True) -> Finished:
        return run_git(args, git_dir=self.common_dir, stdin=stdin, check=check)

    def tip(self, rev: str) -> str:
        """Give the commit that `rev` names, empty when there is none."""
        known = read_ref(self.common_dir, rev)
        if known is not None:
            return known
        return self.git("rev-parse", "--verify", "-q", "--end-of-options", f"{rev}^{{commit}}", check=False).text

    def delete(self, refs: Mapping[str, str]) -> None:
        """Delete refs, all or none; each maps to the commit that it must stand on, empty for any."""
        lines = "".join(f"delete {ref} {tip}".rstrip() + "\n" for ref, tip in refs.items())
        self.git("update-ref", "--stdin", stdin=lines.encode())

    def landed(self, commit: str) -> bool:
        return self.git("merge-base", "--is-ancestor", commit, self.main, check=False).ok

    def missing(self, oids: Iterable[str]) -> list[str]:
        """Give those of `oids` that the user's repository does not have."""
        asked = "".join(f"{oid}\n" for oid in oids).encode()
        said = self.git("cat-file", "--batch-check=%(objecttype)", stdin=asked).text.splitlines() if asked else []
        return [line.split()[0] for line in said if line.endswith(" missing")]
