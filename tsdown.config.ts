import { defineConfig, type UserConfig } from "tsdown";
import { thirdPartyLicenses } from "./scripts/third-party-licenses.ts";

const common = {
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

/** What both inspection and sessions need. Without a file of its own, `inspect` and `validate` would load all of a session. */
const sharedModules = [
  "cli/problem-text",
  "config/server-entries",
  "discovery/package-policy",
  "expressions/(?:bundle-templates|compile-template|evaluation-budget|find-templates)",
  "extension-schema/(?:describe-fault|handlers|meta-keys|node-script|normalize-definition|prompt-messages|references|uri-template)",
  "inspection/(?:inspection-ports|place-problems|server-package)",
  "json-schema/(?:check-budget|refuses-context|reserved-parameters)",
  "qualified-names/(?:qualified-name|resolve-reference|similar-names)",
  "validate/facts/(?:needed-files|resource-files)",
];
const isShared = new RegExp(`src/(?:${sharedModules.join("|")})\\.ts$`.replaceAll("/", "[\\\\/]"));

export default defineConfig([
  {
    ...common,
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
    ...common,
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
          { name: "shared", test: isShared },
          // What every session needs, in one file, too.
          { name: "session", test: /src[\\/](?:session|cli[\\/]session[\\/]session-command)\.ts$/ },
        ],
      },
    },
    copy: childPrograms.map((from) => ({ from, to: "dist/cli" })),
    plugins: [thirdPartyLicenses("THIRD-PARTY-LICENSES.txt")],
  },
  {
    ...common,
    name: "scripting",
    cwd: "packages/scripting",
    entry: { index: "src/index.ts", result: "src/result.ts", testing: "src/testing.ts" },
    // Authors bring the MCP SDK themselves; nothing else is imported but Node.
    deps: { neverBundle: [/^@modelcontextprotocol\//] },
    format: "esm",
    dts: true,
  },
]);
