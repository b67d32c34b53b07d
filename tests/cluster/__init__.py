"""A Slurm cluster of several nodes on one machine, for tests."""
