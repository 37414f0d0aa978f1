import { availableParallelism } from "node:os";
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
 * Tests that look at all children or sockets of their process, or in which `start` reserves its stdin and stdout for good. One process
 * runs the files of all others, because loading our modules for each file would take longer than most tests: a test changes
 * back what it changes of its process, and replaces no module with `vi.mock`, which others may have loaded.
 */
const isolated = [
  "test/mcp/client/*.test.ts",
  "test/processes/*.test.ts",
  "test/serve/start-command.test.ts",
  "test/mcp/http/connections.test.ts",
];

/** What takes long because it runs package managers, compilers or what was built: once, on the oldest Node. */
const slow = [
  "test/integration/**/*.test.ts",
  "test/docs/examples.test.ts",
  "test/adapters/hosting-loops.test.ts",
  "test/npm/commands.test.ts",
  "test/npm/preview-limits.test.ts",
  "test/validate/real-packages.test.ts",
];

const common = {
  server,
  setupFiles: ["test/support/change-back.ts"],
  globalSetup: ["test/support/state-setup.ts"],
  // Limits only stop hangs: a busy machine may take many times as long as an idle one, and no test is retried.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 20_000 } },
};

export default defineConfig({
  test: {
    // One more than cores, because a worker often waits for the processes that it starts.
    maxWorkers: availableParallelism() + 1,
    reporters: ["default", "./test/support/closing-line-reporter.ts"],
    projects: [
      {
        test: {
          name: "shared",
          include: ["test/**/*.test.ts"],
          exclude: [...quarantine, ...isolated, ...slow],
          isolate: false,
          ...common,
        },
      },
      {
        test: {
          name: "isolated",
          include: isolated,
          exclude: [...quarantine],
          ...common,
        },
      },
      {
        // Most use a registry on loopback.
        test: {
          name: "slow",
          include: slow,
          exclude: [...quarantine],
          isolate: false,
          ...common,
          globalSetup: [...common.globalSetup, "test/support/registry-setup.ts"],
          hookTimeout: 240_000,
        },
      },
    ],
  },
});
