"""All git work: workspaces, results, rebases, verification slots, landings. Nothing else runs git."""
