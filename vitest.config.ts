import { defineConfig } from "vitest/config";

// Node itself runs what loads packs' modules, so that these are loaded as they will be: not through Vite.
const server = { deps: { external: [/\/src\/runtime\/module-loader\.mjs$/] } };

export default defineConfig({
  test: {
    // Most of a test's time is waiting for processes.
    maxWorkers: "100%",
    reporters: ["default", "./test/support/closing-line-reporter.ts"],
    projects: [
      {
        test: {
          server,
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: ["test/integration/**"],
          // Many start processes; a limit is for hangs.
          testTimeout: 30_000,
        },
      },
      {
        // Real package managers against a registry on loopback: slow, so the limits are for hangs only.
        test: {
          server,
          name: "integration",
          include: ["test/integration/**/*.test.ts"],
          globalSetup: ["test/support/registry-setup.ts"],
          testTimeout: 120_000,
          hookTimeout: 240_000,
        },
      },
    ],
  },
});
