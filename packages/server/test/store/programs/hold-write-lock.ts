/** Holds the write lock of an SQLite file from its first line of output until its input ends. */
import { DatabaseSync } from "node:sqlite";

const db = new DatabaseSync(process.argv[2] ?? "");
db.exec("begin immediate");
db.exec("insert into deployment (name, value) values ('held', '1')");
process.stdout.write("held\n");
for await (const _ of process.stdin);
db.exec("commit");
db.close();
