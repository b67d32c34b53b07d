# Click logs: how real users walk, for the sections of the SIGIR 2014 paper that stand on one.


if config["kind"] == "synthetic":

    rule generate_click_log:
        output:
            clicks=work("clicks/synthetic.txt"),
            evidence=work("clicks/synthetic.json"),
        log:
            log_of("generate_click_log"),
        benchmark:
            benchmark_of("generate_click_log")
        conda:
            "../../environment.yml"
        params:
            sessions=config["click_sessions"],
        script:
            "../../scripts/generate_click_log.py"

else:

    localrules:
        fetch_clicks,

    rule fetch_clicks:
        input:
            registry="config/sources.tsv",
            offers=offers_of_the_mirror(),
            by_hand=click_log_by_hand,
        output:
            evidence=expand(work("clicks/{click_log}.json"), click_log=click_logs()),
        log:
            log_of("fetch_clicks"),
        benchmark:
            benchmark_of("fetch_clicks")
        conda:
            "../../environment.yml"
        params:
            click_logs=click_logs(),
            data=data_folder,
            network=config["network"],
            published=f"{config['results']}/{config['edition']}/sigir2014-markov-precision/clicks-ledger.tsv",
            edition=config["edition"],
        script:
            "../../scripts/fetch_clicks.py"


rule summarize_clicks:
    input:
        evidence=work("clicks/{click_log}.json"),
    output:
        statistics=work("clicks/{click_log}.npz"),
    log:
        log_of("summarize_clicks/{click_log}"),
    benchmark:
        benchmark_of("summarize_clicks/{click_log}")
    conda:
        "../../environment.yml"
    resources:
        mem_mb=growing(1000),
    script:
        "../../scripts/summarize_clicks.py"


rule tabulate_clicks:
    input:
        claims="config/claims/sigir2014.tsv",
        statistics=expand(work("clicks/{click_log}.npz"), click_log=click_logs()),
    output:
        artefacts=click_artefacts(),
        reproductions=work("reproductions/sigir2014-clicks.tsv"),
    log:
        log_of("tabulate_clicks"),
    benchmark:
        benchmark_of("tabulate_clicks")
    conda:
        "../../environment.yml"
    params:
        folder=lambda wildcards, output: str(Path(output.artefacts[0]).parent),
    script:
        "../../scripts/tabulate_clicks.py"
