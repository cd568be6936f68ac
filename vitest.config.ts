import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    // Suites start servers and hash passwords: more workers than cores only make time-outs.
    maxWorkers: 2,
    // A worker keeps what it has imported for the next file: a third of the time. So no file may change what others
    // import; what a suite needs it makes and closes itself.
    isolate: false,
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["packages/*/src/**/*.test.ts", "scripts/**/*.test.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "real",
          include: ["packages/*/test/**/*.test.ts"],
          globalSetup: ["packages/server/test/kit/global-setup.ts"],
          testTimeout: 30_000,
          hookTimeout: 30_000,
        },
      },
    ],
  },
});
