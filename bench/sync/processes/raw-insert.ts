import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { answerTasks } from "../../service/answer-tasks.ts";

/** A row of the service's table of events. */
export interface Row {
  readonly tenant_id: string;
  readonly position: number;
  readonly id: string;
  readonly entity_id: string;
  readonly version: number;
  readonly received_at: number;
  readonly size: number;
  readonly sealed_event: string | null;
}

const batchSize = 500;
const columns = ["tenant_id", "position", "id", "entity_id", "version", "received_at", "size", "sealed_event"] as const;

const schema = (text: string, int: string, end: string) => [
  `create table sync_events (tenant_id ${text} not null, position ${int} not null, id ${text} not null,
    entity_id ${text} not null, version ${int} not null, received_at ${int} not null, size ${int} not null,
    sealed_event ${text}, primary key (tenant_id, position)) ${end}`,
  "create unique index sync_events_by_id on sync_events (tenant_id, id)",
  "create index sync_events_by_entity on sync_events (tenant_id, entity_id, position)",
];

const batchesOf = (rows: readonly Row[]) =>
  Array.from({ length: Math.ceil(rows.length / batchSize) }, (_, n) => rows.slice(n * batchSize, (n + 1) * batchSize));

const tasks = {
  /** Milliseconds for all rows, with the durability that the service has. */
  async sqlite({ file, rows }: { readonly file: string; readonly rows: readonly Row[] }): Promise<number> {
    const database = new DatabaseSync(file);
    database.exec("pragma journal_mode = wal; pragma synchronous = full");
    for (const statement of schema("text", "integer", "strict, without rowid")) database.exec(statement);
    const places = columns.map(() => "?").join(", ");
    const insert = database.prepare(`insert into sync_events (${columns.join(", ")}) values (${places})`);
    const began = performance.now();
    for (const batch of batchesOf(rows)) {
      database.exec("begin immediate");
      for (const row of batch) insert.run(...columns.map((name) => row[name]));
      database.exec("commit");
    }
    const took = performance.now() - began;
    database.close();
    return took;
  },

  async postgres({ url, rows }: { readonly url: string; readonly rows: readonly Row[] }): Promise<number> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    for (const statement of schema("text", "bigint", "")) await client.query(statement);
    const types = ["text", "bigint", "text", "text", "bigint", "bigint", "bigint", "text"];
    const lists = types.map((type, n) => `$${n + 1}::${type}[]`).join(", ");
    const text = `insert into sync_events (${columns.join(", ")}) select * from unnest(${lists})`;
    const began = performance.now();
    for (const batch of batchesOf(rows)) {
      await client.query({ name: "insert", text, values: columns.map((name) => batch.map((row) => row[name])) });
    }
    const took = performance.now() - began;
    await client.end();
    return took;
  },
};

export type RawInsertTasks = typeof tasks;

answerTasks(tasks);
