"""Slow, literal transcriptions of the papers: what the fast paths are checked against, and nothing else.

Every function takes plain lists of gains by rank (the first entry is rank 1; None is an unjudged document, which
counts as not relevant, except for bpref, which passes over it) and returns plain numbers. Nothing here is meant
to be fast: a chain is a full matrix, a law is an enumeration.

Agreed where a paper is silent: with nothing relevant retrieved a measure is 0; a chain on a single state stays
there with probability 1.
"""
