# Van Dijk, Ferrante, Ferro and Kanoulas, ECIR 2019, electronic appendix: the session measure MsM.


if config["kind"] == "synthetic":

    rule generate_sessions:
        output:
            sessions=work("sessions/synthetic.xml"),
            qrels=work("sessions/synthetic-qrels.txt"),
            evidence=work("sessions/evidence.json"),
        log:
            log_of("generate_sessions"),
        benchmark:
            benchmark_of("generate_sessions")
        conda:
            "../../environment.yml"
        script:
            "../../scripts/generate_sessions.py"

else:

    localrules:
        fetch_sessions,

    rule fetch_sessions:
        input:
            registry="config/sources.tsv",
            offers=offers_of_the_mirror(),
        output:
            evidence=work("sessions/evidence.json"),
        log:
            log_of("fetch_sessions"),
        benchmark:
            benchmark_of("fetch_sessions")
        conda:
            "../../environment.yml"
        params:
            data=data_folder,
            network=config["network"],
            published=f"{config['results']}/{config['edition']}/ecir2019-session/sessions.tsv",
            edition=config["edition"],
        script:
            "../../scripts/fetch_sessions.py"


rule reproduce_ecir2019:
    input:
        claims="config/claims/ecir2019.tsv",
        evidence=work("sessions/evidence.json"),
    output:
        artefacts=ecir2019_artefacts(),
        reproductions=work("reproductions/ecir2019.tsv"),
    log:
        log_of("reproduce_ecir2019"),
    benchmark:
        benchmark_of("reproduce_ecir2019")
    conda:
        "../../environment.yml"
    resources:
        mem_mb=growing(1000),
    params:
        folder=lambda wildcards, output: str(Path(output.artefacts[0]).parent),
    script:
        "../../scripts/reproduce_ecir2019.py"
