/** The phases of a micro-batch in the order in which Spark goes through them, and their colours. */

export const PHASES = [
  { name: "latestOffset", colour: "host-5" },
  { name: "walCommit", colour: "host-4" },
  { name: "getBatch", colour: "host-7" },
  { name: "queryPlanning", colour: "host-2" },
  { name: "addBatch", colour: "host-1" },
  { name: "commitOffsets", colour: "host-6" },
];
