export type { PulledEvent, PushResult, SyncEvent, SyncPullResponse, SyncPushResponse } from "@fieldgate/contract";
