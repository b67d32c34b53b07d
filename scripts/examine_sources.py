"""Say for each column of the published summaries whether it fits its name."""

import pandas as pd
from job import job

from walkeval.gathering import Evidence
from walkeval.judging import JudgedCollection
from walkeval.source_columns import COLUMNS, examine_summary
from walkeval.tables import write_table

with job(snakemake):
    tables = [
        examine_summary(Evidence.load(evidence), JudgedCollection.load(judged))
        for evidence, judged in zip(snakemake.input.evidence, snakemake.input.judged, strict=True)
    ]
    filled = [table for table in tables if len(table)]
    write_table(snakemake.output.columns, pd.concat(filled) if filled else pd.DataFrame(columns=COLUMNS))
