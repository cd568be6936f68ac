import { answerTasks } from "../../service/answer-tasks.ts";
import { Connection, requestText } from "../../service/connection.ts";
import type { RunResult } from "../../service/rounds.ts";

export interface SignIns {
  readonly port: number;
  readonly path: string;
  readonly connections: number;
  readonly seconds: number;
  /** Each is sent once at most. */
  readonly bodies: readonly string[];
}

/** Citizens who sign in one after the other on each connection; every answer must be a session. */
const tasks = {
  async run({ port, path, connections, seconds, bodies }: SignIns): Promise<RunResult> {
    const requests = bodies.map((body) => requestText("POST", path, {}, body));
    const lines = await Promise.all(Array.from({ length: connections }, () => Connection.open(port)));
    let count = 0;
    const start = performance.now();
    const end = start + seconds * 1000;
    async function signInOneAfterTheOther(line: Connection): Promise<void> {
      for (let request = requests.pop(); request !== undefined && performance.now() < end; request = requests.pop()) {
        const { status, body } = await line.send(request);
        if (status !== 200 || !body.includes('"token":"')) throw new Error(`${path} answered ${status}: ${body}`);
        count += 1;
      }
    }
    await Promise.all(lines.map(signInOneAfterTheOther));
    const perSecond = count / ((performance.now() - start) / 1000);
    for (const line of lines) line.close();
    return { count, perSecond };
  },
};

export type SignInLoadTasks = typeof tasks;

answerTasks(tasks);
