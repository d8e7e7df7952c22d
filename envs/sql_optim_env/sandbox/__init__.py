"""Killable worker processes: what they may use, how they are started and replaced, and the jobs that run inside them."""
