/** Ends every connection of Fieldgate to the PostgreSQL server of its argument. */
import pg from "pg";

const client = new pg.Client(process.argv[2]);
await client.connect();
await client.query("select pg_terminate_backend(pid, 2000) from pg_stat_activity where application_name = 'fieldgate'");
await client.end();
