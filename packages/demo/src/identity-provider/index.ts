export { startHostedProvider } from "./hosted.ts";
export type { IdentityProvider, IdentityProviderOptions } from "./identity-provider.ts";
export type { Client } from "./issuer.ts";
export { type Account, demoAccount, demoAccounts, outsiderAccount } from "./people.ts";
export { startRealmProvider } from "./realms.ts";
export { type ProgramSignIn, type ProviderTokens, signInByProgram, visitByProgram } from "./sign-in.ts";
