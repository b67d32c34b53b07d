"""Write Tables 1 to 4 of the SIGIR 2014 paper, and what they say about its claims."""

from job import job

from walkeval.audit import write_reproductions
from walkeval.claims import read_claims
from walkeval.gathering import Evidence
from walkeval.papers.sigir2014 import write_tables
from walkeval.papers.sigir2014_statements import reproductions
from walkeval.tables import read_table

with job(snakemake):
    evidence = [Evidence.load(path) for path in snakemake.input.evidence]
    correlations = [read_table(path) for path in snakemake.input.correlations]
    claims = read_claims([snakemake.input.claims])
    found = write_tables(
        snakemake.params.folder,
        evidence,
        {one.collection: table for one, table in zip(evidence, correlations, strict=True)},
        claims,
        variant=snakemake.params.tau,
        decimals=snakemake.params.rounding,
        printing=snakemake.params.printing,
        samples=snakemake.params.bootstrap,
    )
    write_reproductions(snakemake.output.reproductions, [*found, *reproductions(claims)])
