"""The papers, one module each: what they claim, recomputed."""
