"""What walkeval costs: ``./run bench`` measures everything here in one run and writes results/benchmarks/."""
