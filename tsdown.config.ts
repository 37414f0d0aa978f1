import { defineConfig, type UserConfig } from "tsdown";
import { thirdPartyLicenses } from "./scripts/third-party-licenses.ts";

const shared = {
  target: "node20.19",
  platform: "node",
  // What a `list` needs is bundled: a dependency of its own would cost more to find than to run.
  deps: { alwaysBundle: [/^[^.]/], onlyBundle: false },
  // jsonc-parser's CommonJS form asks for its parts in a way that cannot be bundled.
  inputOptions: { resolve: { mainFields: ["module", "main"] } },
  sourcemap: false,
  clean: true,
} satisfies UserConfig;

/** The programs of children, and what those import: run, not imported, so they stay files of their own beside each bundle. */
const childPrograms = [
  "src/confinement/confined-child.mjs",
  "src/runtime/code-child.mjs",
  "src/runtime/line-decoder.mjs",
  "src/runtime/module-loader.mjs",
  "src/runtime/returned-value.mjs",
];

export default defineConfig([
  {
    ...shared,
    name: "library",
    entry: {
      index: "src/index.ts",
      session: "src/session.ts",
      serve: "src/serve.ts",
      remote: "src/remote.ts",
      install: "src/install.ts",
      lock: "src/lock.ts",
      adapters: "src/adapters.ts",
    },
    outDir: "dist",
    format: "esm",
    dts: true,
    copy: childPrograms.map((from) => ({ from, to: "dist" })),
    plugins: [thirdPartyLicenses("THIRD-PARTY-LICENSES.txt")],
  },
  {
    // CommonJS, because on Node 20 the loader of ES modules alone costs a fifth of an empty process.
    ...shared,
    name: "command",
    entry: { cli: "src/cli/bin.ts" },
    outDir: "dist/cli",
    format: "cjs",
    dts: false,
    // Without comments and white space, as Node reads every byte before it runs the first; names stay.
    minify: { compress: false, mangle: false, codegen: true },
    outputOptions: {
      codeSplitting: {
        groups: [
          // What `list` needs only for packs with a range or with copies.
          { name: "semver", test: /node_modules[\\/]semver[\\/]/, priority: 2 },
          // What every command needs.
          {
            name: "base",
            test: /src[\\/](?:version|cli[\\/](?:output|interrupted-changes))\.ts$/,
            priority: 1,
          },
          // What every `list` needs, in one file: to find and open one costs as much as most of them hold.
          { name: "list", test: /src[\\/]cli[\\/](?:parse-command-line|exit-code|commands[\\/]list)\.ts$/ },
          // What every session needs, in one file, too.
          { name: "session", test: /src[\\/](?:session|cli[\\/]session[\\/]session-command)\.ts$/ },
        ],
      },
    },
    copy: childPrograms.map((from) => ({ from, to: "dist/cli" })),
    plugins: [thirdPartyLicenses("THIRD-PARTY-LICENSES.txt")],
  },
  {
    ...shared,
    name: "scripting",
    cwd: "packages/scripting",
    entry: { index: "src/index.ts", result: "src/result.ts", testing: "src/testing.ts" },
    // Authors bring the MCP SDK themselves; nothing else is imported but Node.
    deps: { neverBundle: [/^@modelcontextprotocol\//] },
    format: "esm",
    dts: true,
  },
]);
