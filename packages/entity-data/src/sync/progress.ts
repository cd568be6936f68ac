/** How far a sync has come, for a progress bar. */
export interface SyncProgress {
  /** `wait`: another tab syncs. `push`: events leave. `pull`: events come. */
  readonly phase: "wait" | "push" | "pull";
  readonly done: number;
  /** Of a pull it is what is known so far: it grows while there is more. */
  readonly total: number;
}

export interface SyncOptions {
  /** Stops the sync. What was settled by then stays settled; the next sync goes on from there. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: SyncProgress) => void;
}

export interface RejectedEvent {
  readonly id: string;
  readonly code: string;
  readonly message: string;
}

export interface SyncSummary {
  /** Events that the service has taken, and those it had already. */
  readonly pushed: number;
  readonly duplicates: number;
  /** Events that it will not take. They are kept with their reasons, see `getRejectedEvents`. */
  readonly rejected: readonly RejectedEvent[];
  readonly pulled: number;
}
