import { readdirSync, readFileSync } from "node:fs";
import { join, posix, relative, sep } from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { inRepository } from "./support/repository.ts";

/**
 * What each folder (or file) of src may import, in the order of the flow: a row names only rows above it, so there is
 * no cycle. This table is the diagram; `docs/` explains it.
 */
const table = `
  # Small facts that everything may know.
  kinds.ts:
  version.ts:
  # Pure: functions of their arguments.
  problems: kinds.ts
  data: problems
  qualified-names: kinds.ts problems data
  extension-schema: kinds.ts problems data qualified-names
  json-schema: problems data extension-schema
  expressions: problems data json-schema
  # The machine.
  files: problems data
  processes: problems files
  # Skills: where they are, what is in them.
  skills: problems data qualified-names files
  # Discovery, inspection, validation: each a stage with its conductor.
  config: problems data qualified-names extension-schema files
  discovery: kinds.ts version.ts problems data qualified-names extension-schema files skills
    config
  confinement: problems data qualified-names files
  inspection: kinds.ts problems data qualified-names extension-schema files skills config discovery
    confinement
  validate: kinds.ts problems data qualified-names extension-schema expressions json-schema files skills
    discovery confinement inspection
  # Packages in registries, and what installs them.
  npm: kinds.ts problems data qualified-names extension-schema files processes config discovery inspection
    validate
  # Execution: running code, speaking MCP, sessions, servers, clients' configs.
  runtime: problems data qualified-names extension-schema expressions json-schema files processes config
    discovery inspection
  mcp: version.ts problems data qualified-names files processes config runtime skills
  # Consent: what a lock approves, and how the installation differs.
  lock: kinds.ts problems data qualified-names extension-schema json-schema files skills config discovery inspection
    validate runtime mcp
  callback: problems data config runtime mcp
  # Signing in to remote servers: what is stored, the tokens of sessions, and login.
  sign-in: problems data files processes runtime mcp
  session: kinds.ts problems data qualified-names extension-schema json-schema files processes config discovery
    inspection validate npm runtime mcp lock callback skills sign-in
  as-installed: problems data extension-schema files config confinement discovery inspection npm session
  serve: kinds.ts version.ts problems data qualified-names extension-schema json-schema files processes config discovery
    inspection validate runtime mcp lock session skills
  # Comparing what is installed with the lock, and approving it.
  approval: kinds.ts problems qualified-names files config discovery inspection validate runtime mcp lock session
    skills
  install: problems data qualified-names extension-schema files processes config discovery inspection npm runtime mcp lock
    session serve approval skills sign-in
  # A session's tools for models, and for MCP clients in memory.
  adapters: problems data qualified-names runtime session serve
  # The entries of the library; index.ts has trust levels 1 and 2 only.
  index.ts: kinds.ts problems qualified-names discovery inspection validate
  session.ts: problems config runtime session
  serve.ts: problems config session serve
  install.ts: problems install
  lock.ts: problems lock session approval
  adapters.ts: adapters
  remote.ts: problems files discovery npm
  # What is known of a pack as data, and as Markdown.
  pages: kinds.ts problems data extension-schema files skills discovery inspection lock
  # For authors of packs, and the command.
  author: kinds.ts version.ts problems data qualified-names extension-schema files processes discovery
    inspection validate json-schema lock session install pages session.ts
  catalog: kinds.ts version.ts problems data extension-schema files config discovery inspection validate lock
    session serve pages author
  cli: kinds.ts version.ts problems data qualified-names extension-schema files processes config discovery inspection validate
    npm runtime mcp lock sign-in as-installed session serve approval install pages session.ts author catalog serve.ts
    install.ts lock.ts remote.ts
`;
const mayImport: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  table
    .replaceAll(/\n {4}/g, " ")
    .split("\n")
    .filter((line) => /^ {2}[a-z]/.test(line))
    .map((line) => {
      const [row = "", allowed = ""] = line.trim().split(":");
      return [row, allowed.split(" ").filter((one) => one !== "")];
    }),
);

/** Folders whose code is a function of its arguments, and what such code has no use for. */
const pureFolders = [
  "problems",
  "data",
  "qualified-names",
  "extension-schema",
  "expressions",
  "validate/checks",
];
const impureModules =
  /^node:(fs|fs\/promises|child_process|net|tls|dgram|dns|http|https|http2|worker_threads|cluster|timers|timers\/promises|perf_hooks|process|os|vm)$/;

interface Import {
  /** Path below src with "/", or the name of a package. */
  target: string;
  isLocal: boolean;
  kind: "static" | "dynamic" | "type";
}

interface SourceFile {
  path: string;
  folder: string;
  imports: Import[];
  /** Whether it has an `import()` of something that only running it tells. */
  importsComputed: boolean;
  node: ts.SourceFile;
}

const root = inRepository("src");

const isTypeOnly = (statement: ts.ImportDeclaration | ts.ExportDeclaration) =>
  ts.isImportDeclaration(statement)
    ? statement.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
    : statement.isTypeOnly;

function readSource(path: string): SourceFile {
  const text = readFileSync(join(root, path), "utf8");
  const node = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const imports: Import[] = [];
  let importsComputed = false;
  const add = (specifier: ts.Node, kind: Import["kind"]) => {
    if (!ts.isStringLiteralLike(specifier)) {
      importsComputed = true;
      return;
    }
    const isLocal = specifier.text.startsWith(".");
    const target = isLocal ? posix.join(posix.dirname(path), specifier.text) : specifier.text;
    imports.push({ target, isLocal, kind });
  };
  const visit = (child: ts.Node): void => {
    if ((ts.isImportDeclaration(child) || ts.isExportDeclaration(child)) && child.moduleSpecifier) {
      add(child.moduleSpecifier, isTypeOnly(child) ? "type" : "static");
    } else if (ts.isCallExpression(child) && child.arguments[0]) {
      const isImport = child.expression.kind === ts.SyntaxKind.ImportKeyword;
      const isRequire = ts.isIdentifier(child.expression) && child.expression.text === "require";
      if (isImport) add(child.arguments[0], "dynamic");
      else if (isRequire) add(child.arguments[0], "static");
    } else if (ts.isImportTypeNode(child) && ts.isLiteralTypeNode(child.argument)) {
      add(child.argument.literal, "type");
    }
    ts.forEachChild(child, visit);
  };
  visit(node);
  const [first = ""] = path.split("/");
  return {
    path,
    folder: first,
    imports,
    importsComputed,
    node,
  };
}

const files = readdirSync(root, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.(ts|mts|js|mjs|cjs)$/.test(entry.name))
  .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join("/"))
  .sort()
  .map(readSource);
const byPath = new Map(files.map((file) => [file.path, file]));
const written = files.filter(({ path }) => !path.includes("/generated/"));

/** The folder below src that a file is in, or the file itself where it is in src. */
const folderOf = (path: string) => path.split("/")[0] ?? "";

/** Everything that loading a file loads, with the way that leads there. */
function reachableFrom(path: string, kinds: readonly Import["kind"][]): Map<string, string[]> {
  const ways = new Map<string, string[]>([[path, [path]]]);
  for (const [current, way] of ways) {
    for (const { target, kind } of byPath.get(current)?.imports ?? []) {
      if (kinds.includes(kind) && !ways.has(target)) ways.set(target, [...way, target]);
    }
  }
  return ways;
}

/** The ways from a file to targets that it must not reach. */
function forbiddenWays(path: string, kinds: readonly Import["kind"][], forbidden: RegExp): string[] {
  return [...reachableFrom(path, kinds)]
    .filter(([target]) => forbidden.test(target))
    .map(([, way]) => way.join(" → "));
}

const pathsThat = (holds: (file: SourceFile) => boolean) => written.filter(holds).map(({ path }) => path);
const importersOf = (module: RegExp) =>
  pathsThat(({ imports }) => imports.some(({ target }) => module.test(target)));

function hasNode(file: SourceFile, holds: (node: ts.Node) => boolean): boolean {
  const visit = (node: ts.Node): boolean => holds(node) || ts.forEachChild(node, visit) === true;
  return visit(file.node);
}

const isProperty = (node: ts.Node, object: string, names: readonly string[]) =>
  ts.isPropertyAccessExpression(node) &&
  ts.isIdentifier(node.expression) &&
  node.expression.text === object &&
  names.includes(node.name.text);

describe("the import table", () => {
  test("the import table has a row for every folder and file of src, and rows name only rows above them", () => {
    expect(Object.keys(mayImport)).toEqual(
      expect.arrayContaining([...new Set(files.map(({ folder }) => folder))]),
    );
    const rows = Object.keys(mayImport);
    for (const [index, row] of rows.entries()) {
      expect(rows.slice(0, index), row).toEqual(expect.arrayContaining([...(mayImport[row] ?? [])]));
    }
  });

  test.each(Object.keys(mayImport))("%s imports only what its row allows", (folder) => {
    const allowed = new Set([folder, ...(mayImport[folder] ?? [])]);
    const broken = files
      .filter((file) => file.folder === folder)
      .flatMap(({ path, imports }) =>
        imports
          .filter(
            ({ isLocal, target }) => isLocal && !target.startsWith("../") && !allowed.has(folderOf(target)),
          )
          .map(({ target }) => `${path} → ${target}`),
      );
    expect(broken).toEqual([]);
  });

  test("no file imports itself through other files", () => {
    const circles = files
      .filter(({ path, imports }) =>
        imports.some(
          ({ target, kind }) => kind !== "type" && reachableFrom(target, ["static", "dynamic"]).has(path),
        ),
      )
      .map(({ path }) => path);
    expect(circles).toEqual([]);
  });
});

describe("pure folders", () => {
  test.each(pureFolders)("the pure folder %s reaches no file system, process, network or clock", (folder) => {
    const paths = files.filter(({ path }) => path.startsWith(`${folder}/`)).map(({ path }) => path);
    expect(paths.flatMap((path) => forbiddenWays(path, ["static", "dynamic"], impureModules))).toEqual([]);
  });

  test.each(pureFolders)("the pure folder %s uses no clock, randomness or environment", (folder) => {
    const impure = written
      .filter(({ path }) => path.startsWith(`${folder}/`))
      .filter((file) =>
        hasNode(
          file,
          (node) =>
            isProperty(node, "Date", ["now"]) ||
            isProperty(node, "Math", ["random"]) ||
            isProperty(node, "performance", ["now"]) ||
            (ts.isIdentifier(node) &&
              ["process", "setTimeout", "setInterval", "fetch"].includes(node.text)) ||
            (ts.isNewExpression(node) &&
              node.expression.getText() === "Date" &&
              node.arguments?.length === 0),
        ),
      )
      .map(({ path }) => path);
    expect(impure).toEqual([]);
  });
});

describe("modules that only one place may use", () => {
  test("child_process is imported by one adapter for each thing that is run", () => {
    expect(importersOf(/^node:child_process$/)).toEqual([
      "confinement/evaluate.ts",
      "mcp/stdio/reserve-streams.ts",
      "npm/managers/package-manager.ts",
      "processes/server-process.ts",
      "sign-in/login.ts",
    ]);
  });

  test("the MCP SDK is imported only in src/mcp, for serving and signing in, and by the reader of skills", () => {
    const importers = importersOf(/^@modelcontextprotocol\//);
    expect(importers.length).toBeGreaterThan(0);
    for (const path of importers)
      expect(path).toMatch(/^(?:mcp\/|serve\/(?:mcp-server|serve-clients)|sign-in\/|skills\/read-skill)/);
    expect(importersOf(/^@modelcontextprotocol\/sdk($|\/)/)).toEqual([]);
  });

  test("servers load the MCP SDK only when they need it", () => {
    const loaders = /^serve\/(?:mcp-server|serve-clients)\.ts$|^@modelcontextprotocol\//;
    for (const path of ["serve.ts", "adapters.ts", "serve/start-session.ts"]) {
      expect(forbiddenWays(path, ["static"], loaders)).toEqual([]);
    }
  });

  test("computed imports occur only in the confined child and in the module loader of the runtime", () => {
    expect(pathsThat(({ importsComputed }) => importsComputed)).toEqual([
      "confinement/confined-child.mjs",
      "runtime/handler-code.mjs",
    ]);
  });

  test("only the output module and the start of a session use stdout, stderr and the console", () => {
    const paths = pathsThat((file) =>
      hasNode(
        file,
        (node) =>
          isProperty(node, "process", ["stdout", "stderr"]) ||
          (ts.isIdentifier(node) && node.text === "console" && !ts.isPropertyAssignment(node.parent)),
      ),
    );
    expect(paths).toEqual(["cli/output.ts", "serve/start-session.ts"]);
  });

  test("zod is imported only by schemas", () => {
    const schemas = importersOf(/^zod($|\/)/);
    expect(schemas.length).toBeGreaterThan(0);
    for (const path of schemas)
      expect(path).toMatch(/^(?:extension-schema|json-schema|config)\/(?:[a-z-]*schema|shape-faults)\.ts$/);
  });
});

describe("trust is a capability", () => {
  test("discovery reads through its port, and only discover-packs.ts chooses the adapter", () => {
    const ports = files
      .filter(({ folder, path }) => folder === "discovery" && path !== "discovery/discover-packs.ts")
      .flatMap(({ imports }) => imports.map(({ target }) => target))
      .filter((target) => target.startsWith("files/"));
    expect([...new Set(ports)].sort()).toEqual(["files/discovery-port.ts"]);
  });

  test("nothing that discovery can load runs processes, evaluates code or reaches the network", () => {
    const means = /^node:(child_process|worker_threads|vm|net|tls|dgram|dns|http|https|http2|inspector)$/;
    expect(forbiddenWays("discovery/discover-packs.ts", ["static", "dynamic"], means)).toEqual([]);
    const computed = [...reachableFrom("discovery/discover-packs.ts", ["static", "dynamic"]).keys()].filter(
      (path) => byPath.get(path)?.importsComputed,
    );
    expect(computed).toEqual([]);
  });

  test("nothing that the root entry can load reaches the network", () => {
    expect(
      forbiddenWays("index.ts", ["static", "dynamic"], /^node:(net|tls|dgram|dns|http|https|http2)$/),
    ).toEqual([]);
  });

  test("the root entry does not load processes, the MCP SDK or higher levels by itself", () => {
    const higher =
      /^(node:child_process|node:worker_threads|@modelcontextprotocol\/.*|(runtime|mcp|callback|session|serve|install|npm|cli)\/.*)$/;
    expect(forbiddenWays("index.ts", ["static"], higher)).toEqual([]);
  });
});
