import { type Static, Type } from "typebox";
import { component, literals, strictObject } from "./schema.ts";

export const Health = component("Health", strictObject({ status: literals(["ok"]) }));
export type Health = Static<typeof Health>;

export const JsonWebKeySet = component(
  "JsonWebKeySet",
  strictObject(
    {
      keys: Type.Array(
        strictObject({
          kty: Type.String(),
          crv: Type.String(),
          x: Type.String(),
          y: Type.String(),
          kid: Type.String(),
          alg: Type.String(),
          use: Type.String(),
        }),
      ),
    },
    { description: "The public keys of our access tokens (RFC 7517), the next one included." },
  ),
);
export type JsonWebKeySet = Static<typeof JsonWebKeySet>;
