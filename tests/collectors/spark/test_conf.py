from pathlib import Path

import pytest

from collectors.spark.conf import (
    EXTENSIONS,
    LISTENER,
    PLUGIN,
    spark_defaults,
    spark_options,
    spark_submit_options,
)

REDIS = "redis://node-a:6379/0"


def test_the_options_load_every_part_of_the_probe() -> None:
    options = spark_options(REDIS, "orders")
    assert options["spark.plugins"] == PLUGIN
    assert options["spark.sql.extensions"] == EXTENSIONS
    assert options["spark.sql.streaming.streamingQueryListeners"] == LISTENER
    assert options["spark.curtail.job"] == "orders"
    assert Path(options["spark.driver.defaultExtraClassPath"]).is_file()


def test_no_option_is_set_that_a_flag_of_spark_submit_replaces() -> None:
    replaced = {"spark.jars": "--jars", "spark.driver.extraClassPath": "--driver-class-path"}
    assert replaced.keys().isdisjoint(spark_options(REDIS, None))


def test_what_the_user_has_in_a_list_stays_there() -> None:
    existing = {"spark.plugins": "com.acme.Plugin", "spark.yarn.dist.jars": "a.jar,b.jar"}
    options = spark_options(REDIS, None, existing)
    assert options["spark.plugins"] == f"com.acme.Plugin,{PLUGIN}"
    assert options["spark.yarn.dist.jars"].startswith("a.jar,b.jar,")


def test_instrumenting_twice_adds_nothing() -> None:
    once = spark_options(REDIS, None)
    assert spark_options(REDIS, None, once) == once


def test_an_address_that_is_not_redis_is_refused() -> None:
    with pytest.raises(ValueError, match="not a Redis address"):
        spark_options("http://node-a", None)


def test_the_words_for_spark_submit_are_pairs() -> None:
    words = spark_submit_options(REDIS, None)
    assert words[::2] == ["--conf"] * (len(words) // 2)
    assert f"spark.curtail.redis.secretUrl={REDIS}" in words


def test_a_name_the_shell_would_split_is_refused() -> None:
    with pytest.raises(ValueError, match="without spaces"):
        spark_submit_options(REDIS, "my orders")


def test_defaults_are_read_from_the_folder_spark_reads(tmp_path: Path) -> None:
    (tmp_path / "spark-defaults.conf").write_text(
        "# comment\n\nspark.plugins   com.acme.Plugin\nspark.jars=a.jar\nlonely\n"
    )
    found = spark_defaults({"SPARK_CONF_DIR": str(tmp_path)})
    assert found == {"spark.plugins": "com.acme.Plugin", "spark.jars": "a.jar"}


def test_without_a_folder_of_its_own_it_is_the_one_in_sparks_home(tmp_path: Path) -> None:
    assert spark_defaults({"SPARK_HOME": str(tmp_path)}) == {}
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text("spark.plugins com.acme.Plugin\n")
    assert spark_defaults({"SPARK_HOME": str(tmp_path)}) == {"spark.plugins": "com.acme.Plugin"}
