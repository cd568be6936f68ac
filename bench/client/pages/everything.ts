import * as client from "@fieldgate/client";
import * as id from "@fieldgate/client/id";
import * as otp from "@fieldgate/client/otp";
import * as indexedDb from "@fieldgate/client/storage/indexed-db";
import * as memory from "@fieldgate/client/storage/memory";

Object.assign(globalThis, { fieldgate: { ...client, ...otp, ...id, ...indexedDb, ...memory } });
