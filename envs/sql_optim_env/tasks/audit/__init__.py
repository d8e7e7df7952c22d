"""Audit problems: kinds of data defects, each a generator of scenarios."""
