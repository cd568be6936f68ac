import type { JsonObject } from "../json.ts";

/** What appliers make of events. */
export interface EntityContent {
  /** `individual`, `group`, or a kind of your own. */
  readonly type: string;
  readonly data: JsonObject;
  /** The ids of a group's members. */
  readonly members: readonly string[];
}

/** A person, a group, or whatever else events tell of, as far as this device knows. */
export interface Entity extends EntityContent {
  readonly id: string;
  /** One more with each event. Of what the service has not confirmed, it is this device's expectation. */
  readonly version: number;
  /** When it was first and last written to, by the clocks of the authors' devices. */
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Whether something in it has not come back from the service yet. */
  readonly unconfirmed: boolean;
}
