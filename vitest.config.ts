import { defineConfig } from "vitest/config";

// Node itself runs what loads packs' modules, so that these are loaded as they will be: not through Vite.
const server = { deps: { external: [/\/src\/runtime\/handler-code\.mjs$/] } };

/**
 * Files that do not run because a test in them fails now and then on an unchanged commit. It stays empty: a file gets in
 * only with a comment that links the issue with the failure and names who looks into it. It gets out, within two weeks,
 * once the cause is fixed and the file passes 50 times in a row with the other core busy, or once the test is deleted.
 */
const quarantine: readonly string[] = [];

/**
 * Rooms whose tests look at all children of their process, or replace a module. One process runs the files of all others, because loading our
 * modules for each file would take longer than most tests: a test changes back what it changes of its process.
 */
const isolated = ["test/catalog/**", "test/mcp/client/**", "test/processes/**"];

// Limits only stop hangs: a busy machine may take many times as long as an idle one, and no test is retried.
const limits = { testTimeout: 120_000, hookTimeout: 120_000, expect: { poll: { timeout: 20_000 } } };

export default defineConfig({
  test: {
    // Most of a test's time is waiting for processes.
    maxWorkers: "100%",
    reporters: ["default", "./test/support/closing-line-reporter.ts"],
    projects: [
      {
        test: {
          server,
          name: "shared",
          include: ["test/**/*.test.ts"],
          exclude: [...quarantine, ...isolated, "test/integration/**"],
          isolate: false,
          ...limits,
        },
      },
      {
        test: {
          server,
          name: "isolated",
          include: isolated.map((room) => `${room}/*.test.ts`),
          exclude: [...quarantine],
          ...limits,
        },
      },
      {
        // Real package managers against a registry on loopback.
        test: {
          server,
          name: "integration",
          include: ["test/integration/**/*.test.ts"],
          exclude: [...quarantine],
          isolate: false,
          globalSetup: ["test/support/registry-setup.ts"],
          ...limits,
          hookTimeout: 240_000,
        },
      },
    ],
  },
});
