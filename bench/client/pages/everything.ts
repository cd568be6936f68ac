import * as client from "@fieldgate/client";
import * as id from "@fieldgate/client/id";
import * as oidc from "@fieldgate/client/oidc";
import * as otp from "@fieldgate/client/otp";
import * as indexedDb from "@fieldgate/client/storage/indexed-db";
import * as memory from "@fieldgate/client/storage/memory";

Object.assign(globalThis, { fieldgate: { ...client, ...otp, ...id, ...oidc, ...indexedDb, ...memory } });
