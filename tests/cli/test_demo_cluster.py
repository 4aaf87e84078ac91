"""`curtail demo --cluster`: its options and the programs that it adds."""

from pathlib import Path

import pytest

from dashboard.cli import cluster, demo
from dashboard.cli.demo_cluster import DemoCluster
from examples import cluster_counts, noisy_neighbour


@pytest.fixture
def made(tmp_path: Path) -> DemoCluster:
    return DemoCluster({"REDIS_URL": "redis://127.0.0.1:1/0"}, tmp_path)


@pytest.mark.parametrize("words", [["--no-jobs"], ["--calm"], ["--pool", "hang"]])
def test_it_runs_a_job_of_its_own_and_none_of_the_others(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        demo.run(["--cluster", *words])
    assert ended.value.code == 2
    assert "--cluster runs one job of its own" in capsys.readouterr().err


def test_the_job_takes_the_options_that_it_gets(made: DemoCluster) -> None:
    options = cluster_counts.arguments().parse_args(made.words)
    assert options.master.startswith("spark://127.0.0.1:")
    assert options.hosts == 3


def test_the_neighbour_slows_the_last_host_and_ends_first(
    made: DemoCluster, tmp_path: Path
) -> None:
    program = made.neighbour()
    words = program.argv[program.argv.index("examples.noisy_neighbour") + 1 :]
    options = noisy_neighbour.checked(noisy_neighbour.arguments(), words)
    assert options.work_dir == [tmp_path / "cluster" / "work-127.0.0.4"]
    assert options.share == 0.25
    job = made.job(program)
    assert program.stage > job.stage > cluster.master({}, tmp_path, 1, 2).stage


def test_the_welcome_says_which_host_becomes_slow(made: DemoCluster) -> None:
    assert made.says == (
        "The job runs on 127.0.0.2 to 127.0.0.4; once it has warmed up, 127.0.0.4 gets 25% of its "
        "CPU time."
    )


def test_a_worker_s_executors_work_below_the_folder_that_the_neighbour_looks_at(
    tmp_path: Path,
) -> None:
    program = cluster.worker({}, tmp_path, "127.0.0.4", "spark://127.0.0.1:7077")
    given = program.argv[program.argv.index("--work-dir") + 1]
    assert Path(given) == cluster.work_dir(tmp_path, "127.0.0.4")
    assert program.env[cluster.HOST_VARIABLE] == "127.0.0.4"


def test_a_master_that_does_not_answer_knows_nobody() -> None:
    assert cluster.registered(web_port=1) is None
