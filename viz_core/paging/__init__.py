"""Paged KV memory: block pool, free-list policies, scheduler, event log."""
