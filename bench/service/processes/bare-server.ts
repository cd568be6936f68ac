import { once } from "node:events";
import { createServer } from "node:http";
import { answerTasks, cpuTime } from "../answer-tasks.ts";

export interface FixedAnswer {
  readonly port: number;
  readonly status: number;
  /** Name, value, name, value. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** Node's own HTTP server with nothing on top: it sends one fixed answer to everyone. */
const tasks = {
  async start({ port, status, headers, body }: FixedAnswer): Promise<void> {
    const server = createServer((_request, response) => {
      response.writeHead(status, [...headers]);
      response.end(body);
    });
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  },
  cpuTime,
};

export type BareServerTasks = typeof tasks;

answerTasks(tasks);
