import { join } from "node:path";
import { defineConfig, type UserConfig } from "tsdown";
import { loadWhenUsed } from "./scripts/load-when-used.ts";
import { thirdPartyLicenses } from "./scripts/third-party-licenses.ts";

const common = {
  target: "node20.19",
  platform: "node",
  // What a `list` needs is bundled: a dependency of its own would cost more to find than to run.
  deps: { alwaysBundle: [/^[^.]/], onlyBundle: false },
  // jsonc-parser's CommonJS form asks for its parts in a way that cannot be bundled.
  inputOptions: {
    resolve: {
      mainFields: ["module", "main"],
      // The SDK's own validator of JSON Schema is never used, and as large as the rest of its server.
      alias: {
        "@modelcontextprotocol/server/_shims": join(import.meta.dirname, "src/mcp/sdk-shims.ts"),
        // As ES modules, of which the bundler leaves out what is not used and defers the rest.
        yaml: join(import.meta.dirname, "node_modules/yaml/browser/dist/index.js"),
      },
    },
  },
  sourcemap: false,
  clean: true,
} satisfies UserConfig;

/** The programs of children, and what those import: run, not imported, so they stay files of their own beside each bundle. */
const childPrograms = [
  "src/confinement/confined-child.mjs",
  "src/runtime/code-child.mjs",
  "src/runtime/handler-code.mjs",
];

/** Modules below `src`, by the ends of their paths. */
const modules = (paths: string) => new RegExp(`src/(?:${paths})\\.ts$`.replaceAll("/", "[\\\\/]"));

/**
 * The files of the command, each loaded when something in it is first used; what is in none of them is in files by which
 * commands need it. To find, open and read a file costs as much as 7 kB more of code.
 */
const commandFiles = [
  // The index of tools, which few sessions search.
  { name: "search", test: /node_modules[\\/]minisearch|src[\\/]session[\\/]search[\\/]tool-index/ },
  // What the schemas of the config and of definitions are written in.
  {
    name: "schemas",
    test: /zod[\\/]v4[\\/]mini|src[\\/]extension-schema[\\/](?:shape-faults|shared-schema)/,
  },
  { name: "semver", test: /node_modules[\\/]semver/ },
  // The words of problems, which many projects do not have.
  { name: "words", test: modules("problems/(?:catalog|entry|syntax-hint|[a-z]+-problems)") },
  // What `list` runs where there is no config and nothing is wrong.
  {
    name: "list",
    test: modules(
      [
        "kinds",
        "cli/(?:command|commands|exit-code|layout|options|parse-command-line)",
        "cli/commands/list",
        "config/packs-policy",
        "data/(?:memoize|parse-json|source-text)",
        "discovery/(?!discover-packs|look-up-pack|pack-skills|project-manager|shadow-copies|walk-packages|workspace-members)[\\w-]+",
        "extension-schema/parse-extension",
        "files/(?:discovery-port|file-errors|node-discovery-port)",
        "problems/(?:index|problem|text|trailblaze-error)",
        "qualified-names/item-name",
        "skills/skill-folders",
      ].join("|"),
    ),
  },
  // What inspection and validation share with sessions: the small modules, as the large ones are not always used.
  {
    name: "shared",
    test: modules("(?:data|extension-schema|inspection|qualified-names)/(?!question-schema)[\\w-]+"),
    maxModuleSize: 5000,
  },
  { name: "session", test: modules("(?:session(?:/[\\w-]+)?|cli/session/[\\w-]+|lock/[\\w-]+)") },
  { name: "calls", test: modules("runtime/[\\w-]+"), maxModuleSize: 6000 },
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
      codeSplitting: { groups: commandFiles, includeDependenciesRecursively: false },
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
    plugins: [thirdPartyLicenses("THIRD-PARTY-LICENSES.txt")],
  },
]);
