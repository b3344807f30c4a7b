"""InferSight's core: everything the pages show is computed here."""
