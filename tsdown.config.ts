import { defineConfig, type UserConfig } from "tsdown";

const shared = {
  target: "node20.19",
  platform: "node",
  // What a `list` needs is bundled: a dependency of its own would cost more to find than to run.
  deps: { alwaysBundle: [/^[^.]/] },
  sourcemap: false,
  clean: true,
} satisfies UserConfig;

export default defineConfig([
  {
    ...shared,
    name: "library",
    entry: { index: "src/index.ts" },
    outDir: "dist",
    format: "esm",
    dts: true,
  },
  {
    // CommonJS, because on Node 20 the loader of ES modules alone costs a fifth of an empty process.
    ...shared,
    name: "command",
    entry: { cli: "src/cli/bin.ts" },
    outDir: "dist/cli",
    format: "cjs",
    dts: false,
  },
  {
    ...shared,
    name: "scripting",
    cwd: "packages/scripting",
    entry: { index: "src/index.ts" },
    format: "esm",
    dts: true,
  },
]);
