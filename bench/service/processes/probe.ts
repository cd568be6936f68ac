import { setTimeout as sleep } from "node:timers/promises";
import { answerTasks } from "../answer-tasks.ts";
import { Connection, requestText } from "../connection.ts";

export interface ProbeOrder {
  readonly port: number;
  readonly tokens: readonly string[];
  readonly seconds: number;
  /** Milliseconds from one question to the next. */
  readonly every: number;
}

/** Someone who asks now and then on a connection of their own, and notes how long each answer took. */
const tasks = {
  async run({ port, tokens, seconds, every }: ProbeOrder): Promise<number[]> {
    const connection = await Connection.open(port);
    const requests = tokens.map((token) =>
      requestText("GET", "/api/users/check-token", { Authorization: `Bearer ${token}` }),
    );
    const milliseconds: number[] = [];
    const end = performance.now() + seconds * 1000;
    for (let turn = 0; performance.now() < end; turn += 1) {
      const start = performance.now();
      const { status, body } = await connection.send(requests[turn % requests.length] ?? "");
      milliseconds.push(performance.now() - start);
      if (status !== 200) throw new Error(`check-token answered ${status}: ${body}`);
      await sleep(every);
    }
    connection.close();
    return milliseconds;
  },
};

export type ProbeTasks = typeof tasks;

answerTasks(tasks);
