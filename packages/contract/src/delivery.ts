import { type Static, Type } from "typebox";
import { component } from "./schema.ts";

export const DeliveryReceipt = component(
  "DeliveryReceipt",
  Type.Object(
    {},
    {
      additionalProperties: true,
      description: "What a gateway says of a message, in its own words; the channel's configuration knows them.",
    },
  ),
);
export type DeliveryReceipt = Static<typeof DeliveryReceipt>;
