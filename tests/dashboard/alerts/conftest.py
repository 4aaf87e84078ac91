from collections.abc import Iterator

import pytest

from tests.dashboard.alerts.received import Received, receiving


@pytest.fixture(scope="module")
def _receiver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Received]:
    with receiving(tmp_path_factory.mktemp("receiver")) as receiver:
        yield receiver


@pytest.fixture
def receiver(_receiver: Received) -> Iterator[Received]:
    """One process per file, empty for each test."""
    yield _receiver
    _receiver.release()
    _receiver.forget()
