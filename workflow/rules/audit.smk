# Every published number gets a verdict.


rule audit_claims:
    input:
        claims=claims_files(),
        reproductions=[work("reproductions/sigir2014.tsv")],
    output:
        verdicts=artefact("audit/verdicts.tsv"),
    log:
        log_of("audit_claims"),
    benchmark:
        benchmark_of("audit_claims")
    conda:
        "../../environment.yml"
    params:
        printing=config["printing"],
    script:
        "../../scripts/audit_claims.py"
