from pathlib import Path

import pytest

from dashboard.history.place import Place, UnknownPlace


@pytest.mark.parametrize(
    ("uri", "root"),
    [
        ("/srv/archive", "/srv/archive"),
        ("/srv/archive/", "/srv/archive"),
        ("/srv/with space", "/srv/with space"),
        ("file:///srv/archive", "/srv/archive"),
        ("file:///srv/with%20space", "/srv/with space"),
        ("file:/srv/archive", "/srv/archive"),
        ("s3a://bucket/curtail", "s3://bucket/curtail"),
        ("s3://bucket/curtail/", "s3://bucket/curtail"),
        ("s3a://bucket", "s3://bucket"),
        ("hdfs://namenode:8020/curtail", "hdfs://namenode:8020/curtail"),
    ],
)
def test_sparks_names_for_places_are_understood(uri: str, root: str) -> None:
    assert Place(uri).root == root


def test_a_relative_path_is_one_from_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert Place("archive").root == str(tmp_path / "archive")


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("", "empty"),
        ("ftp://host/path", "s3a://"),
        ("s3a:///path", "bucket"),
        ("file://host/path", "not by a host"),
    ],
)
def test_any_other_place_is_refused_where_it_is_configured(uri: str, said: str) -> None:
    with pytest.raises(UnknownPlace, match=said):
        Place(uri)


def test_credentials_are_not_in_what_is_logged() -> None:
    assert "hidden" not in repr(Place("s3a://bucket", {"aws_secret_access_key": "hidden"}))


def test_object_stores_and_hdfs_are_opened_by_deltalake() -> None:
    options = {"aws_region": "eu-west-1", "aws_access_key_id": "a", "aws_secret_access_key": "b"}
    assert Place("s3a://bucket/path", options).filesystem() is not None
    assert not Place("s3a://bucket/path", options).is_local
