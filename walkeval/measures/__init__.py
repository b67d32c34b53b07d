"""The measures, one family a file. Importing this package registers them all."""

from walkeval.measures import classical, markov_precision, navigation, search_length, session, stopping_time
from walkeval.measures.base import Measure, known_measures, parameter, parse_measure, register

__all__ = [
    "Measure",
    "classical",
    "known_measures",
    "markov_precision",
    "navigation",
    "parameter",
    "parse_measure",
    "register",
    "search_length",
    "session",
    "stopping_time",
]
