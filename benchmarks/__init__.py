"""Benchmarks: each module measures one thing, with its floor in the same run."""
