import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { catalog, createProblem, type ProblemArguments, type ProblemCode } from "../../src/problems/index.ts";
import { inRepository } from "../support/repository.ts";
import { patternOf, render } from "./sentence-pattern.ts";

type Samples = { readonly [Code in ProblemCode]: readonly ProblemArguments[Code][] };

const definition = [{ reason: "`command` is missing" }, { reason: "`cwd` is empty", hint: "Remove it." }];

const notFound = [
  { name: "acme/jira/x", otherKind: undefined, nearest: [] },
  { name: "acme/jira/creatIssue", otherKind: undefined, nearest: ["acme/jira/createIssue"] },
  { name: "acme/jira/x", otherKind: "tool", nearest: [] },
  { name: "acme/jira/x", otherKind: undefined, nearest: [], reason: "It runs only on a host." },
  { name: "x", otherKind: undefined, nearest: [], isAnyKind: true },
  { name: "x", otherKind: undefined, nearest: ["y"], isAnyKind: true },
  { name: "api/x", otherKind: undefined, nearest: [], server: "api" },
] as const;

/** Arguments for every sentence that a code can have. */
const samples: Samples = {
  NoExtension: [{ name: "@acme/jira" }, { name: "/project", isWorkspace: true }],
  MalformedExtension: [{ what: "`tools`", expected: "an array", found: "a string" }],
  UnknownExtensionKey: [
    { key: "tool", known: ["tools", "servers"], suggestion: "tools" },
    { key: "colour", known: ["tools", "servers"], suggestion: undefined },
  ],
  InvalidDeclaration: [{ reason: "it is a number", key: "tools" }],
  InvalidItemName: [{ name: "get issue", reason: "it has a space" }],
  DuplicateDeclaration: [
    { name: "getIssue", other: "getIssue", key: "tools" },
    { name: "getissue", other: "getIssue", key: "tools" },
  ],
  InvalidNeeds: [
    { reason: '"*" would mean every host' },
    { reason: "it is a number", hint: "Use an object." },
  ],
  HostVersionUnsupported: [
    { range: "^2.0.0", version: "1.0.0", invalid: false },
    { range: "two", version: "1.0.0", invalid: true },
  ],
  MissingRootDirectory: [{ root: "trailblaze" }],
  MissingDefinitionFile: [
    { name: "getIssue", own: "trailblaze/tools/getIssue.{json,yaml}", combined: "trailblaze/tools.json" },
    { name: "getIssue", own: "trailblaze/tools/getIssue.json", combined: "", isDangling: true },
    {
      name: "getIssue",
      own: "trailblaze/tools/getIssue.json",
      combined: "trailblaze/tools.json",
      meant: { file: "trailblaze/tools/getissue.json", renameTo: "getIssue.json" },
    },
    {
      name: "getIssue",
      own: "trailblaze/tools/getIssue.json",
      combined: "trailblaze/tools.json",
      meant: { file: "trailblaze/tools.json", key: "getissue", moveTo: "trailblaze/tools/getIssue.json" },
    },
  ],
  DuplicateDefinitionFiles: [
    { used: "getIssue.json", others: ["getIssue.yaml"] },
    { used: "getIssue.json", others: ["getIssue.yaml", "getIssue.mjs"] },
  ],
  UnsupportedDefinitionFormat: [
    { file: "tools/getIssue.toml", cause: "unknownFormat" },
    { file: "tools/getIssue.mjs", cause: "codeRefused" },
    { file: "tools/getIssue.ts", cause: "installedTypeScript" },
    { file: "tools/getIssue.ts", cause: "typesNotStripped" },
  ],
  InvalidDefinitionContents: [
    { reason: "it has no default export" },
    { reason: "it is not valid JSON (a comma before the end)", cause: "trailingComma" },
    { reason: "it is not valid JSON (invalid comment token)", cause: "comment" },
    { reason: "it is not UTF-8", cause: "encoding" },
    { reason: "it is not valid YAML", cause: "tab" },
    { reason: "it is not valid YAML", cause: "nestedMapping" },
    { reason: "it is not valid YAML", cause: "reservedCharacter" },
    { reason: "it is not valid YAML", cause: "indentation" },
    { reason: "it is not valid YAML", cause: "unclosedQuote" },
    { reason: "it is not valid YAML", cause: "unclosedBracket" },
    { reason: "it is not valid YAML", cause: "unknownAlias" },
    { reason: "it is not valid YAML", cause: "mergeKey" },
    { reason: "it is not valid YAML", cause: "expression" },
    { reason: "it threw: Cannot find package 'zod'", missingPackage: "zod" },
  ],
  DefinitionTooLarge: [{ bytes: 1_200_000, limit: 1_048_576 }],
  DefinitionOutsidePackage: [{ what: "../tools.json" }, { what: "root", hint: "Copy it into the package." }],
  OrphanDefinitionFile: [{ name: "getIssue", key: "tools" }],
  ShadowedDefinition: [{ name: "getIssue", file: "tools/getIssue.json", combined: "tools.json" }],
  FileNotPublished: [
    { file: "dist/index.js" },
    { file: "dist/index.js", importer: "trailblaze/tools.js" },
    { file: "dist/index.js", importer: "trailblaze/tools.js", others: 1 },
    { file: "dist/index.js", others: 2 },
    { file: "node_modules/base/index.js", packageName: "base" },
  ],
  InvalidPackageManifest: [
    { key: "name", value: "My Tools", reason: "it has capital letters" },
    { key: "name", reason: "it is missing" },
    { key: "version", value: "1.0", reason: "it is not a semver version" },
  ],
  PrivatePackage: [{}],
  UnpublishableDependency: [{ name: "base", spec: "file:../base" }],
  UnparsableModule: [{ file: "lib/a.js", reason: "Unexpected token ';'" }],
  WrongModuleFormat: [
    { file: "lib/a.js", readAs: "esm", isMixed: false },
    { file: "lib/a.js", readAs: "esm", isMixed: true },
    { file: "lib/a.js", readAs: "esm", isMixed: true, name: "require", isInFunction: true },
    { file: "lib/a.js", readAs: "esm", isMixed: true, name: "__dirname", isInFunction: false },
    { file: "lib/a.cjs", readAs: "commonjs", isMixed: false },
  ],
  TypeScriptNotPublishable: [
    { file: "lib/a.ts", isPrivate: false },
    { file: "lib/a.ts", javascript: "lib/a.js", isPrivate: false },
    { file: "lib/a.ts", importer: "lib/b.js", isPrivate: false },
    { file: "trailblaze/tools/a.ts", isDefinition: true, isPrivate: false },
  ],
  UndeclaredDependency: [
    { name: "zod", specifier: "zod/v4", isGuarded: false, isDev: false, others: 0 },
    { name: "zod", specifier: "zod/v4", isGuarded: false, isDev: true, others: 0 },
    { name: "zod", specifier: "zod/v4", isGuarded: false, isDev: true, others: 2 },
    { name: "zod", specifier: "zod/v4", isGuarded: true, isDev: false, others: 0 },
    { name: "@/tools", specifier: "@/tools", isGuarded: false, isDev: false, others: 0 },
    { name: "mcp", specifier: "mcp", isGuarded: false, isDev: false, others: 0, isServer: true },
    { name: "#a", specifier: "#a", isGuarded: false, isDev: false, missingIn: "imports", others: 0 },
  ],
  InvalidServerDefinition: definition,
  InvalidToolDefinition: definition,
  InvalidToolsetDefinition: definition,
  InvalidPromptDefinition: definition,
  InvalidResourceDefinition: definition,
  DuplicateResourceUri: [{ uri: "docs://{page}", other: "pages" }],
  InvalidReference: [
    { reference: "acme/jira/x", reason: 'There is no tool "acme/jira/x".', hint: "Did you mean y?" },
  ],
  ReferenceCycle: [{ cycle: ["a", "b", "a"] }],
  HandlerNotFound: [
    { handler: "./a.js#x", reason: "there is no such export", exports: ["y", "z"] },
    { handler: "./a.js#x", reason: "there is no such file" },
    { handler: "./a.js#x", reason: "there is no such file", hint: "Build it first." },
    { handler: "./server.js", reason: "there is no such file", isProgram: true },
  ],
  HandlerUnchecked: [{ handler: "./a.js#x", reason: "the module re-exports a package" }],
  UnexpandedVariable: [
    { variable: "${TOKEN}", name: "TOKEN" },
    { variable: "${workspaceFolder}", name: undefined },
  ],
  NeedsExceeded: [{ name: "DOOR_KEY" }],
  InvalidInputSchema: [
    { key: "inputSchema", reason: "`type` must be object" },
    { key: "parameters", reason: "`a.default` must be string", isDefault: true },
  ],
  UnsafePattern: [{ pattern: "^(a+)+$" }],
  ReservedParameter: [{ name: "_trailblazeContext" }],
  InvalidAdvertisedName: [{ name: "get issue" }, { name: "…" }],
  DuplicateAdvertisedName: [{ name: "getIssue", other: "issues" }],
  ToolNameConvention: [{ name: "GetIssue" }],
  ReservedToolPrefix: [{ name: "web_open", prefix: "web_" }],
  NameMismatch: [{ name: "issues", item: "jira" }],
  MissingDescription: [{ what: "The tool" }],
  UnknownDefinitionKey: [{ key: "inputSchme", suggestion: "inputSchema" }],
  UnknownMetaKey: [
    { key: "trailblaze/isForLLM", suggestion: "trailblaze/isForLlm", known: ["trailblaze/isForLlm"] },
    { key: "trailblaze/x", suggestion: undefined, known: ["trailblaze/isForLlm", "trailblaze/toolsets"] },
  ],
  InvalidMetaValue: [{ key: "trailblaze/isForLlm", expected: "a boolean", found: "a string" }],
  ControlCharacters: [{ codePoints: ["U+001B"] }, { codePoints: ["U+0007", "U+001B"] }],
  HiddenText: [{ codePoints: ["U+202E"] }],
  InvalidExpression: [{ expression: "a +", reason: "an operand is missing at its end" }],
  UnknownBuiltIn: [
    { reference: "great", nearest: [] },
    { reference: "great", nearest: ["greet"] },
    { reference: "great", nearest: [], advertises: "greet" },
  ],
  LifecycleScript: [
    { packages: ["better-sqlite3", "esbuild"], command: "npm rebuild better-sqlite3 esbuild" },
    { script: "postinstall" },
  ],
  MissingKeyword: [{ keyword: "trailblaze-extension" }],
  InvalidQualifiedName: [{ name: "a//b", reason: "a segment is empty" }],
  PackNotInstalled: [
    { name: "@acme/jira" },
    { name: "@acme/jira", manager: "pnpm", range: "^1.2" },
    { name: "@acme/jira", isDeclared: true },
    { name: "acme/jira", nearest: ["@acme/jira"], alternative: "@acme/jira" },
    { name: "jira", isWord: true },
    { name: "jira", isWord: true, nearest: ["@acme/jira"], servers: ["api", "db"] },
    { name: "api", inConfig: "server" },
    { name: "api", inConfig: "tool" },
    { name: "api", inConfig: "server", isRemoval: true },
    { name: "jira", isRemoval: true },
    { name: "@acme/jira", isUndeclared: true },
  ],
  PackVersionMismatch: [{ name: "@acme/jira", range: "^2", version: "1.0.0" }],
  ExtensionNotFound: [
    { name: "lodash" },
    { name: "lodash", inRegistry: true },
    { name: "cowsay", mayBeServer: true },
  ],
  ServerNotFound: [
    ...notFound,
    { name: "files", otherKind: undefined, nearest: [], isDisabled: true },
    { name: "fils", otherKind: undefined, nearest: [], isLabel: true },
  ],
  ToolNotFound: notFound,
  ToolsetNotFound: notFound,
  PromptNotFound: notFound,
  ResourceNotFound: notFound,
  AmbiguousName: [
    { name: "acme/jira/issues", kinds: ["tool", "prompt"] },
    { name: "box/open", kinds: ["tool"], server: "box" },
  ],
  NameCollision: [
    { collisions: [{ name: "getIssue", sources: ["@acme/jira", "@other/jira"] }] },
    {
      collisions: Array.from({ length: 13 }, (_, index) => ({ name: `tool${index}`, sources: ["a", "b"] })),
    },
    {
      collisions: [{ name: "a.b", sources: ["the config, server x", "the config, server y"] }],
      isCalled: true,
    },
    {
      collisions: [{ name: "search_tools", sources: ["@acme/jira", "the search for tools"] }],
      isReserved: true,
    },
  ],
  IntegerRounded: [
    { tool: "orders_cancel", path: "/order/id", source: undefined },
    { tool: "orders_cancel", path: "/structuredContent/id", source: "orders_find" },
  ],
  HostListenerFailed: [{ option: "onLog", tool: "web_click", reason: "socket closed" }],
  InitializeFailed: [{ name: "acme/jira/getIssue", reason: "no token" }],
  DuplicateBundleEntry: [
    { name: undefined, bundles: ["a"] },
    { name: "x", bundles: ["a", "a"] },
    { name: "x", bundles: ["a", "b"] },
  ],
  ServerDied: [
    { label: "api", exit: { exitCode: 1, signal: null } },
    { label: "api", exit: { exitCode: 1, signal: null, stderrTail: "no token" } },
    { label: "api", exit: { exitCode: null, signal: "SIGKILL" }, isRelaunched: true },
    { label: "api", exit: { exitCode: 1, signal: null }, restartReason: "it exited with code 1" },
    { label: "@acme/jira", of: "code", exit: { exitCode: 0, signal: null } },
    { label: "api", exit: { exitCode: 1, signal: null, reason: "it sent a message of more than 32 MiB" } },
    { label: "api", exit: { exitCode: 1, signal: null }, isServed: true },
    {
      label: "docs",
      exit: { exitCode: null, signal: null, reason: "no connection", isLost: true },
      isServed: true,
    },
    {
      label: "docs",
      exit: { exitCode: null, signal: null, reason: "no connection", isLost: true },
    },
  ],
  AuthorizationRequired: [
    { label: "docs", status: 401, scheme: "Bearer" },
    { label: "docs", status: 403 },
  ],
  RemoteRedirect: [
    { label: "docs", status: 307, target: "https://other.example/mcp", cause: "origin" },
    { label: "docs", status: 302, target: "https://docs.example/mcp", cause: "status" },
    { label: "docs", status: 308, target: "https://docs.example/mcp", cause: "second" },
  ],
  InputRequired: [{ name: "notes", asked: '"version": "Which version?"' }],
  SessionClosed: [
    {},
    { reason: "it was interrupted by SIGINT", signal: "SIGINT" },
    { label: "api", exit: { exitCode: 1, signal: null } },
    { label: "@acme/jira", of: "code", exit: { exitCode: 1, signal: null } },
    {
      label: "docs",
      exit: { exitCode: null, signal: null, reason: "no connection", isLost: true },
    },
  ],
  StdoutNoise: [{ label: "api", line: "listening" }],
  ToolListChanged: [{ label: "api", list: "tools" }],
  ResourceFailed: [{ reason: "The archive is closed." }],
  PromptFailed: [{ reason: "Cannot read the template\n  at line 2" }],
  ServerListIncomplete: [
    { label: "api", list: "prompts", reason: "it answered with the error -32603: broken" },
    { label: "api", list: "resourceTemplates", reason: "it has no name", name: "file:///{path}" },
    { label: "api", list: "resources", reason: "it is not an object", name: "" },
    { label: "api", list: "tools", reason: "it is null", name: "find", key: "annotations.title" },
    { label: "api", list: "tools", reason: "it repeats a cursor", isRest: true },
  ],
  ServerResultIncomplete: [
    { label: "api", method: "tools/call", name: "rows", key: "isError", reason: "it is not true or false" },
  ],
  ChangeNotApplied: [
    { cause: "project", reason: 'Pack "@acme/jira" is not installed.' },
    { cause: "watch", reason: "the system limit of watches is reached" },
  ],
  IsolationOverridden: [{}],
  UnmatchedPattern: [
    { key: "packs.deny", pattern: "acme/jira/deleteIsue", nearest: ["acme/jira/deleteIssue"] },
    { key: "packs.transitive", pattern: "acme/*", nearest: [] },
    { key: "mcpServers.files.tools.deny", pattern: "write*", nearest: [] },
    { key: "always", pattern: "getIsue", nearest: [] },
  ],
  InvalidConfig: [
    { reason: "`crash` must be one of fail, isolate, relaunch" },
    { reason: "it is not valid YAML", cause: "tab" },
    { reason: "the config has no key `pack`", hint: 'Did you mean "packs"?', others: 1 },
    { reason: "`crash` is empty", others: 2 },
  ],
  ProjectNotFound: [
    { directory: "/project", exists: true },
    { directory: "/project", exists: false },
    { directory: "/project", exists: true, denoFile: "/project/deno.json" },
  ],
  MalformedPackageJson: [
    { reason: "it is empty", location: "node_modules/x", isSource: false },
    { reason: "it is empty", location: ".", isSource: true },
    { reason: "it is not valid JSON", cause: "comment", location: ".", isSource: true },
  ],
  PackageJsonTooLarge: [{ bytes: 1_200_000, limit: 1_048_576, location: "node_modules/x" }],
  WorkspaceIncomplete: [
    { cause: "syntax", pattern: "@(a|b)/*" },
    { cause: "patterns", limit: 1000, pattern: "{a,b}/*" },
    { cause: "patterns", limit: 1000, pattern: "{a,b}/*", others: 2 },
    { cause: "folders", limit: 10_000 },
    { cause: "bytes", limit: 1_048_576 },
    { cause: "failed", reason: "EACCES" },
  ],
  UnsupportedLayout: [
    { layout: "pnp", file: ".pnp.cjs" },
    { layout: "deno", file: "deno.lock" },
  ],
  AliasedPack: [{ name: "tracker", packageName: "@acme/jira" }],
  ShadowedPack: [
    { name: "@acme/jira", version: "1.0.0", winner: "2.0.0", location: "node_modules/@acme/jira" },
    { name: "@acme/jira", version: null, winner: null, location: "node_modules/@acme/jira", manager: "pnpm" },
  ],
  ConfinementUnavailable: [{ required: true }],
  NotAPack: [
    { name: "lodash", hasBin: false },
    { name: "cowsay", hasBin: true },
  ],
  ServerPackageNotInstalled: [
    { name: "@acme/mcp", label: "api", isDeclared: false },
    { name: "@acme/mcp", label: "api", isDeclared: false, manager: "pnpm" },
    { name: "@acme/mcp", label: "acme/jira/api", isDeclared: true },
  ],
  ServerStartFailed: [
    { label: "api", exit: { exitCode: 1, signal: null } },
    { label: "api", exit: { exitCode: 1, signal: null }, stderrTail: "Error: no token\n    at x.js:1:1" },
    { label: "api", exit: { exitCode: 0, signal: null }, stdout: "Usage: api serve" },
    { label: "api", reason: "there is no program x", hint: "Install x." },
  ],
  InvalidArguments: [{ reason: 'There is no option "--jsn"', hint: "Did you mean --json?" }],
  InternalError: [{ reason: "x is undefined" }],
  RegistryUnavailable: [
    {
      registry: "https://npm.acme.example/",
      reason: "was read without the credentials in the project's .npmrc",
      answered: true,
      withheld: ["//npm.acme.example/:_authToken=${NPM_TOKEN}"],
    },
    { registry: "https://registry.example", reason: "does not answer in time" },
    { registry: "https://registry.example", reason: "does not answer in time", answered: true },
  ],
  UnsupportedSpec: [
    { spec: "file:../x", reason: "it is a folder" },
    { spec: "x@1", reason: "it has a version", isRemoval: true },
  ],
  ReservedCommand: [
    { command: "trailblaze" },
    { command: "trailblaze", package: "evil@1.0.0" },
    { command: "node", package: "evil@1.0.0", what: "add evil", restored: true },
    { command: "node", package: "evil@1.0.0", what: "add evil" },
  ],
  SimilarName: [
    { name: "@acme/jjra", existing: "@acme/jira", allowed: false },
    { name: "@acme/jjra", existing: "@acme/jira", allowed: true },
  ],
  InstallFailed: [
    { what: "add @acme/jira", reason: "npm exited with code 1" },
    { what: "add @acme/jira", reason: "npm exited with code 1", restored: true },
    { what: "add @acme/jira", reason: "npm exited with code 1", restored: false },
    { what: "add @acme/jira", reason: "npm exited with code 1", restored: "nothing" },
    { what: "add @acme/jira", reason: "it was interrupted", restored: true, hint: "Try again." },
  ],
  FailsAsInstalled: [
    { what: 'Module "./lib/greet.js" cannot be imported', reason: "it threw: Cannot find package 'zod'" },
  ],
  UnknownCode: [
    { code: "HandlerNotFond", nearest: ["HandlerNotFound"] },
    { code: "x", nearest: [] },
  ],
  UnknownClient: [
    { name: "curser", nearest: ["cursor"] },
    { name: "x", nearest: [] },
  ],
  UnknownInstallLocation: [
    { client: "Cursor", reason: "HOME is not set" },
    { client: "Cursor", reason: "HOME is not set", hint: "Set HOME." },
  ],
  NoProjectScope: [{ client: "Claude Desktop" }],
  ClientConfigNotFound: [{ file: "~/.cursor/mcp.json" }],
  ClientConfigMalformed: [
    { file: "~/.cursor/mcp.json", reason: "it is not valid JSON" },
    { file: "~/.cursor/mcp.json", reason: "it has no MCP servers", isImport: true },
  ],
  ClientConfigConflict: [
    { file: "~/.cursor/mcp.json", key: "jira", owner: undefined },
    { file: "~/.cursor/mcp.json", key: "jira", owner: "acme/jira/api" },
    { file: "~/.cursor/mcp.json", key: "jira", owner: "acme/jira/api", project: "/other" },
  ],
  ClientConfigUnwritable: [
    { file: "~/.cursor/mcp.json", reason: "EACCES" },
    {
      file: "~/.codex/config.toml",
      reason: "its layout does not allow it",
      byHand: 'jira = { command = "x" }',
    },
  ],
  NotApproved: [
    { name: "acme/jira", state: "new", differences: ["createIssue", "getIssue"], entry: "acme/jira" },
    { name: "acme/jira/createIssue", state: "new", differences: [], entry: "acme/jira" },
    { name: "acme/jira/createIssue", state: "changed", differences: ["description"], entry: "acme/jira" },
    { name: "my-tools", state: "unlisted", differences: ["query"], entry: "my-tools" },
    { name: "my-tools/query", state: "unrecordable", differences: [], entry: "my-tools" },
    { name: "acme/jira/deleteIssue", state: "denied", differences: [], entry: "acme/jira" },
  ],
  LockOutdated: [
    { name: "acme/jira/triage", reason: "is approved, but the pack no longer declares it" },
    { name: "acme/jira", reason: "was approved as version 1.0.0; 1.0.1 is installed" },
  ],
  NotLocked: [{ name: "acme/jira" }],
  LockMismatch: [{ names: ["acme/jira/createIssue", "my-tools"] }],
  LockMissing: [{ file: "/app/trailblaze.lock" }, { file: "/app/trailblaze.lock" }],
  LockMalformed: [
    { file: "/app/trailblaze.lock", reason: "it has conflict markers of a merge" },
    { file: "/app/trailblaze.lock", reason: "it is a folder", hint: "Update Trailblaze." },
  ],
  DocsMarkersMissing: [
    { file: "README.md", opening: 0, closing: 0 },
    { file: "README.md", opening: 1, closing: 1 },
    { file: "README.md", opening: 2, closing: 1 },
  ],
  CatalogFolderTaken: [
    { folder: "/app/site", reason: "it has other files" },
    { folder: "/app/site", reason: "its `packs` is not a folder" },
  ],
  ExportConflict: [{ file: "server.json" }, { file: "package.json", key: "bin.jira" }],
  ExportNeedsBin: [
    { name: "acme/jira/planning", server: "planning", isDefault: true },
    { name: "acme/jira/planning", server: "planning", isDefault: false },
  ],
  ExportNameUnusable: [{ name: "acme.my_pack", rule: "letters, digits and hyphens, at most 64" }],
  ExportNeedsMcpName: [{ mcpName: undefined }, { mcpName: "acme" }],
  ExportDescriptionTooLong: [
    { length: 140, most: 100 },
    { length: 0, most: 100 },
  ],
  EnvironmentNotExported: [{ name: "JIRA_TOKEN", format: "agent-plugin" }],
};

const indent = (text: string) => text.replaceAll("\n", "\n    ");

/** The sentences of one code, each once. */
function* sentencesOf(code: ProblemCode): Generator<string> {
  yield `${code}: ${catalog[code].title}`;
  const shown = new Set<string>();
  for (const args of samples[code]) {
    const { message, hint } = createProblem(code, args as never);
    const sentence = `  ${indent(message)}${hint === undefined ? "" : `\n    ${indent(hint)}`}`;
    if (!shown.has(sentence)) yield sentence;
    shown.add(sentence);
  }
}

// The one place where tests fix what problems say: all others assert code, place and arguments.
test("the catalog's sentences are those of sentences.txt", async () => {
  const codes = Object.keys(samples) as ProblemCode[];
  const text = codes.flatMap((code) => [...sentencesOf(code), ""]).join("\n");
  await expect(text).toMatchFileSnapshot("sentences.txt");
});

test("names in the commands of messages and hints are quoted for the shell", () => {
  const name = 'x;touch pwned $(touch pwned) "`touch pwned`';
  const commands =
    /(?:`|^(?=\w+ (?:install|add) ))(?:trailblaze|npm|pnpm|yarn|bun|deno|git) (?:'[^']*'|[^'`\n])*/gm;
  // Other strings are sentences, or words of ours.
  const names = new Set([
    "name",
    "entry",
    "server",
    "package",
    "alternative",
    "range",
    "file",
    "label",
    "spec",
  ]);
  const unquoted: string[] = [];
  for (const code of Object.keys(samples) as ProblemCode[]) {
    for (const args of samples[code] as readonly Record<string, unknown>[]) {
      for (const key of Object.keys(args)) {
        if (typeof args[key] !== "string" || !names.has(key)) continue;
        const { message, hint = "" } = createProblem(code, { ...args, [key]: name } as never);
        for (const [command] of `${message}\n${hint}`.matchAll(commands))
          if (command.replace(/'[^']*'/g, "").includes("touch")) unquoted.push(`${code} ${key}: ${command}`);
      }
    }
  }
  expect([...new Set(unquoted)]).toEqual([]);
});

test("every problem keeps its arguments", () => {
  for (const code of Object.keys(samples) as ProblemCode[]) {
    for (const args of samples[code]) {
      const problem = createProblem(code, args as never);
      expect(problem.args).toEqual(args);
      expect(JSON.parse(JSON.stringify(problem)).args).toEqual(JSON.parse(JSON.stringify(args)));
    }
  }
});

const pages = inRepository("docs/problems");

/** The problems in the examples of the pages: a line with the code, the message, lines of a program, the hint. */
const quotes = readdirSync(pages).flatMap((page) => {
  const text = readFileSync(join(pages, page), "utf8");
  const fences = [...text.matchAll(/^```text\n([\s\S]*?)^```/gm)].map(([, fence = ""]) => fence).join("\n");
  const found = fences.matchAll(
    /^(?:error|warning|info) (\w+).*\n {2}(?!hint: )(.+(?:\n {4}.+)*)(?:\n {2}hint: (.+(?:\n {4}.+)*))?/gm,
  );
  return [...found].map(([, code = "", message = "", hint = ""]) => ({ page, code, message, hint }));
});

test.each(quotes)(
  "$page shows a message and a hint of $code as the catalog has them",
  ({ code, message, hint }) => {
    const own = samples[code as ProblemCode];
    const sentences = own.map((sample) => render(code as ProblemCode, sample));
    const patterns = own.map((sample) => patternOf(code as ProblemCode, sample));
    // Indented lines are the rest of a wrapped message, or what a program wrote.
    const readings = [message.replaceAll(/\n +/g, " "), message.replace(/\n[\s\S]+/, "")].map(
      (reading) => `${reading}\n${hint.replaceAll(/\n +/g, " ")}`,
    );
    const isKnown = readings.some(
      (reading) => sentences.includes(reading) || patterns.some((pattern) => pattern.test(reading)),
    );
    if (!isKnown) expect(readings[0]).toBe(patterns.map(String).join("\n"));
  },
);

test("more than 60 pages show a message", () => {
  expect(new Set(quotes.map(({ page }) => page)).size).toBeGreaterThan(60);
});
