// A clock that is moved by hand, and sockets that do what the test says.

class FakeClock {
  constructor(nowMs = 1_000_000_000) {
    this.nowMs = nowMs;
    this.timers = new Map();
    this.made = 0;
    this.waits = []; // every wait that was asked for, in order
  }
  now() {
    return this.nowMs;
  }
  after(ms, act) {
    this.waits.push(ms);
    this.timers.set((this.made += 1), { at: this.nowMs + ms, act });
    return this.made;
  }
  cancel(timer) {
    this.timers.delete(timer);
  }
  async advance(ms) {
    const end = this.nowMs + ms;
    for (;;) {
      const due = [...this.timers].filter(([, { at }]) => at <= end).sort((a, b) => a[1].at - b[1].at)[0];
      if (!due) break;
      this.timers.delete(due[0]);
      this.nowMs = due[1].at;
      due[1].act();
      await settle();
    }
    this.nowMs = end;
  }
}

class FakeSocket {
  static all = [];
  constructor(url) {
    this.url = url;
    FakeSocket.all.push(this);
  }
  static get last() {
    return FakeSocket.all.at(-1);
  }
  say(message) {
    this.onmessage({ data: JSON.stringify(message) });
  }
  drop(code = 1006) {
    this.onclose({ code });
  }
  close() {
    this.closed = true;
  }
}

// Lets everything that waits for a resolved promise go on.
async function settle() {
  for (let i = 0; i < 60; i += 1) await null;
}

function batch(times, values = {}) {
  const column = (value) => times.map(() => value);
  return {
    window_ms: 50,
    t: times,
    latency: {
      source: "record",
      count: column(1),
      p50: column(10),
      p90: column(20),
      p99: column(30),
      p999: column(40),
      max: column(50),
      ...values,
    },
    cpu: { a: column(50) },
    state: { flushes: {}, compactions: {}, l0_files: {} },
    activities: [],
    rows_in: column(7),
    backlog_rows: column(null),
    batches: [],
    collector: { dropped: 0, late: 0, unreadable: 0 },
  };
}
