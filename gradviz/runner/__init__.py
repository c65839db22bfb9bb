"""Starts, stops and kills workers; owns their output; says how they ended. No Qt."""

from gradviz.runner.listener import Connection
from gradviz.runner.outcome import ending, sentence
from gradviz.runner.run import Callbacks, Ended, Run, own_descriptors
from gradviz.runner.target import Limits, Target

__all__ = ["Callbacks", "Connection", "Ended", "Limits", "Run", "Target", "ending", "own_descriptors", "sentence"]
