import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A line between a node and its database that a test can cut. */
export interface CuttableLine {
  /** The database's address, by way of this line. */
  readonly url: string;
  /** Ends every connection, and refuses new ones: the database is gone. */
  cut(): void;
  /** Lets nothing through any more, without a word: the network is gone. */
  hang(): void;
  /** Everything is well again. What hung before stays lost. */
  mend(): void;
  close(): Promise<void>;
}

export async function openCuttableLine(databaseUrl: string): Promise<CuttableLine> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let state: "well" | "cut" | "hanging" = "well";

  const server = createServer((near) => {
    keep(near);
    if (state === "cut") return void near.destroy();
    if (state === "hanging") return void near.pause();
    const far = connect(Number(target.port), target.hostname);
    keep(far);
    near.pipe(far);
    far.pipe(near);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.once("close", () => other.destroy());
    }
  });

  function keep(socket: Socket): void {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => sockets.delete(socket));
  }
  function endAll(): void {
    for (const socket of sockets) socket.destroy();
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The system gave no port.");
  const url = new URL(databaseUrl);
  url.port = String(address.port);

  return {
    url: url.href,
    cut() {
      state = "cut";
      endAll();
    },
    hang() {
      state = "hanging";
      for (const socket of sockets) {
        socket.unpipe();
        socket.pause();
      }
    },
    mend() {
      state = "well";
    },
    async close() {
      endAll();
      server.close();
      await once(server, "close");
    },
  };
}
