import { defineConfig, type UserConfig } from "tsdown";
import { loadWhenUsed } from "./scripts/load-when-used.ts";
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

/** Modules below `src`, by the ends of their paths. */
const matchModules = (paths: readonly string[]) =>
  new RegExp(`src/(?:${paths.join("|")})\\.ts$`.replaceAll("/", "[\\\\/]"));

/**
 * The files of the command, each loaded when something in it is first used. A file has its modules and what they import,
 * unless a file above takes that: to find and open a file costs as much as reading 20 kB.
 */
const commandFiles = [
  // What every command needs, and what files that are loaded later share with `list`.
  {
    name: "base",
    test: matchModules([
      "version",
      "kinds",
      "cli/output",
      "problems/(?:text|syntax-hint|process-exit)",
      "files/(?:discovery-port|inspection-port|make-folders)",
    ]),
  },
  // The words of problems, which many projects do not have.
  { name: "words", test: matchModules(["problems/(?:catalog|[a-z]+-problems)"]) },
  // For packs with a range or with copies.
  { name: "semver", test: /node_modules[\\/]semver[\\/]/ },
  { name: "list", test: matchModules(["cli/(?:parse-command-line|exit-code|commands/list)"]) },
  // What calls share with opening a session.
  {
    name: "servers",
    test: matchModules([
      "cli/session/format-result",
      "mcp/stdio/reserve-stdout",
      "runtime/(?:abort-listeners|code-runners)",
      "session/session-servers",
    ]),
  },
  // What both inspection and sessions need.
  {
    name: "shared",
    test: matchModules([
      "cli/problem-text",
      "config/server-entries",
      "expressions/(?:bundle-templates|compile-template|evaluation|find-templates)",
      "extension-schema/(?:describe-fault|handlers|meta-keys|node-script|normalize-definition|prompt-messages|references|uri-template)",
      "inspection/(?:inspection-ports|place-problems|server-package)",
      "json-schema/(?:check-budget|refuses-context|reserved-parameters)",
      "qualified-names/(?:qualified-name|resolve-reference|similar-names)",
      "validate/facts/(?:needed-files|resource-files)",
    ]),
  },
  // What a session needs to start servers and to call, but not to open and list.
  {
    name: "calls",
    test: matchModules([
      "mcp/(?:client-message|find-request-id)",
      "mcp/client/(?:answer-error|copy-arguments|incoming-message|json-depth|server-lists)",
      "processes/(?:entry-watcher|find-program)",
      "runtime/(?:bundle(?:-catches|-entry|-tools)?|convert-result|describe-refusal|input-rounds|invoke-tool|pack-resource)",
      "runtime/(?:process-output|resource-contents|server-environment|time-limit|tool-code|tool-result)",
      "session/(?:call-failure|host-input|missing-packages|program-content|project-follower|prompt-content)",
      "session/(?:server-requests|session-change|search/(?:tool-index|words))",
    ]),
  },
  { name: "session", test: matchModules(["session", "cli/session/session-command", "cli/commands/tools"]) },
].map((file, index) => ({ ...file, priority: 100 - index }));

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
    minify: { compress: false, mangle: { keepNames: true }, codegen: true },
    outputOptions: {
      codeSplitting: { groups: commandFiles },
    },
    copy: childPrograms.map((from) => ({ from, to: "dist/cli" })),
    plugins: [loadWhenUsed(), thirdPartyLicenses("THIRD-PARTY-LICENSES.txt")],
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
