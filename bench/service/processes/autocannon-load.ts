import autocannon from "autocannon";
import { answerTasks, cpuTime } from "../answer-tasks.ts";

export interface Shots {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  readonly requests: readonly autocannon.Request[];
}

export interface ShotsResult {
  readonly perSecond: number;
  readonly count: number;
  readonly p99: number;
}

/** Load from a process of its own, over keep-alive connections; every answer must be a success. */
const tasks = {
  async run({ port, connections, seconds, requests }: Shots): Promise<ShotsResult> {
    let client = 0;
    const result = await autocannon({
      url: `http://127.0.0.1:${port}`,
      connections,
      duration: seconds,
      // Each connection has its own share, so that together they send them all.
      setupClient(connection) {
        const share = client++ % connections;
        connection.setRequests(requests.filter((_, index) => index % connections === share));
      },
    });
    if (result.non2xx > 0 || result.errors > 0 || result.timeouts > 0) {
      throw new Error(`Not all answers were good: ${JSON.stringify(result.statusCodeStats)}, ${result.errors} errors.`);
    }
    return { perSecond: result["2xx"] / result.duration, count: result["2xx"], p99: result.latency.p99 };
  },
  cpuTime,
};

export type AutocannonTasks = typeof tasks;

answerTasks(tasks);
