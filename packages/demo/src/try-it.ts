import { demoAccount } from "./identity-provider/people.ts";
import { demoPeople, demoWorker } from "./people.ts";

/** What the portal says can be tried. */
export function thingsToTry() {
  const { mother, father, daughter, byEmail, byId, byYear } = demoPeople;
  const names = [mother, father, daughter].map(({ names: { given } }) => given);
  return {
    inbox: "dev/inbox",
    card: "dev/card",
    docs: "docs",
    people: [
      { way: "wayCode", who: names.join(", "), values: [mother.phones[0]] },
      { way: "wayCode", who: byEmail.names.given, values: [byEmail.emails[0]] },
      { way: "wayId", who: byId.names.given, values: [byId.nationalIds[0].number, "1975-06-30"] },
      { way: "wayId", who: byYear.names.given, values: [byYear.nationalIds[0].number, "1950"] },
      { way: "wayWorker", who: "", values: [demoWorker.username, demoWorker.password] },
      { way: "wayWorker", who: "oidc_a, oidc_b", values: [demoAccount.username, demoAccount.password] },
    ],
  };
}
