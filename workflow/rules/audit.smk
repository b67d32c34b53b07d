# Every published number gets a verdict.


rule audit_claims:
    input:
        claims=claims_files(),
        reproductions=[
            work("reproductions/sigir2014.tsv"),
            work("reproductions/sigir2014-clicks.tsv"),
            work("reproductions/ecir2019.tsv"),
            work("reproductions/ictir2020.tsv"),
            work("reproductions/sigir1988.tsv"),
            work("reproductions/sigir2006.tsv"),
        ],
        impossible=work("reproductions/impossible.tsv"),
        explanations=explanations(),
    output:
        verdicts=report(artefact("audit/verdicts.tsv"), caption="../report/verdicts.rst", category="Audit"),
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
