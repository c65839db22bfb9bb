"""Ratios measured side by side in one run; never part of the tests. Start: `python -m tests.benchmarks [NAME ...]`."""
