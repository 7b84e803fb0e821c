"""Frozen evidence: a suite and its packages under digests, imported runs with receipts, and their comparison.

Gather: `freeze` writes a freeze and `load` verifies one; `runs` imports runs and reads them again; `compare` pairs
them. Nothing here runs a case, calls a model or a grader, or certifies anything.
"""
