# Conventions that the SIGIR 2014 paper does not state, recovered from its own numbers; what still differs, explained.


if searches_conventions():

    rule search_conventions:
        input:
            claims="config/claims/sigir2014.tsv",
            evidence=of_collections("collections/{collection}/evidence.json"),
        output:
            conventions=artefact("audit/conventions.tsv"),
            tested=artefact("audit/conventions-tested.tsv"),
            readings=artefact("audit/readings.tsv"),
            means=work("conventions/trec08.npz"),
        log:
            log_of("search_conventions"),
        benchmark:
            benchmark_of("search_conventions")
        conda:
            "../../environment.yml"
        resources:
            mem_mb=growing(1500),
        params:
            searched="trec08",
        script:
            "../../scripts/search_conventions.py"

    rule explain_differences:
        input:
            claims="config/claims/sigir2014.tsv",
            evidence=of_collections("collections/{collection}/evidence.json"),
            reproductions=work("reproductions/sigir2014.tsv"),
            means=work("conventions/trec08.npz"),
        output:
            explanations=artefact("audit/explanations.tsv"),
        log:
            log_of("explain_differences"),
        benchmark:
            benchmark_of("explain_differences")
        conda:
            "../../environment.yml"
        resources:
            mem_mb=growing(1500),
        params:
            searched="trec08",
            order=config["order"],
            rounding=config["rounding"],
            tau=config["tau"],
            printing=config["printing"],
        script:
            "../../scripts/explain_differences.py"
