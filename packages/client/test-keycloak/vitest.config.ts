import { defineConfig } from "vitest/config";

/** `npm run test:keycloak`: apart from `npm test`, because it needs a Keycloak. */
export default defineConfig({
  test: {
    include: ["packages/client/test-keycloak/**/*.test.ts"],
    testTimeout: 90_000,
    hookTimeout: 90_000,
  },
});
