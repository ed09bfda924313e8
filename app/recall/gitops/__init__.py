"""All git work: workspaces, results, rebases, verification slots, landings. Nothing else runs git."""

import os

#: What git hands to an alias or a hook, and these to a Recall that they start (`git rev-parse --local-env-vars`). It
#: would lead GitPython, which asks git for its version on import and believes these variables more than its
#: arguments, to the repository of that alias. Whatever imports a part of this package forgets them first.
_OUTER_REPOSITORY = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT",
    "GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE", "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX", "GIT_INTERNAL_SUPER_PREFIX", "GIT_SHALLOW_FILE",
    "GIT_COMMON_DIR", "GIT_NAMESPACE",
)  # fmt: skip

for _name in _OUTER_REPOSITORY:
    os.environ.pop(_name, None)
