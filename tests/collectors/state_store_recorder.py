"""What state stores did, as the probe told it."""

from collectors.process.events.state_store import Finished, StateStores
from tests.collectors.message_recorder import MessageRecorder


class StateStoreRecorder(MessageRecorder):
    def finished(self, run_id: str | None = None) -> list[Finished]:
        """Of one run or of all."""
        stores = StateStores()
        told = ((part.executor_id, event) for part in self.parts() for event in part.events)
        found = (stores.read(executor_id, event) for executor_id, event in told)
        return [each for each in found if each and run_id in (None, each.store.run_id)]
