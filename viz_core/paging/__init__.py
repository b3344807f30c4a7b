"""Paged KV memory: block pool, free-list policies, scheduler, event log, scenarios and their films.

`run(scenario)` gives a `Recording` (pool parameters and log); `replay`, `measure` and `film` read it.
"""
