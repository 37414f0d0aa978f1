import { spawn } from "node:child_process";
import { existsSync, mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Discovery, discoverPacks, type ProblemCode } from "../../src/index.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { makeFifo, makeLink } from "../support/special-files.ts";
import { waitUntil } from "../support/wait-until.ts";

const mebibyte = 1 << 20;
const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
const withField = (rest: string) =>
  `{"name": "broken", "version": "1.0.0", "trailblaze": {"tools": ["a"]}, ${rest}`;
/** A package.json of so many bytes. */
const padded = (bytes: number, text: string) =>
  `${text.slice(0, -1)}${" ".repeat(bytes - Buffer.byteLength(text))}}`;

interface BadManifest {
  code: ProblemCode;
  make: (path: string) => void;
  /** Where it goes wrong, if that is one place. */
  place?: { line: number; column: number };
}

const write = (content: string | Uint8Array) => (path: string) => writeFileSync(path, content);

const badManifests: Readonly<Record<string, BadManifest>> = {
  "is truncated": {
    code: "MalformedPackageJson",
    make: write('{\n  "name": "broken",\n  "trailblaze": {\n    "tools": ["a'),
    place: { line: 4, column: 15 },
  },
  "is truncated before it mentions the field": {
    code: "MalformedPackageJson",
    make: write('{\n  "name": "broken",\n  "vers'),
    place: { line: 3, column: 3 },
  },
  "mentions the field and is no JSON": {
    code: "MalformedPackageJson",
    make: write(withField('oops\n  "x": 1 }')),
    place: { line: 1, column: 72 },
  },
  "is an array": {
    code: "MalformedPackageJson",
    make: write('[{"trailblaze": {}}]'),
    place: { line: 1, column: 1 },
  },
  "is null": { code: "MalformedPackageJson", make: write("null"), place: { line: 1, column: 1 } },
  "is a text": { code: "MalformedPackageJson", make: write('"trailblaze"'), place: { line: 1, column: 1 } },
  "is a number": { code: "MalformedPackageJson", make: write("5"), place: { line: 1, column: 1 } },
  "is empty": { code: "MalformedPackageJson", make: write(""), place: { line: 1, column: 1 } },
  "is white space": { code: "MalformedPackageJson", make: write(" \r\n\t ") },
  "is an opening brace": { code: "MalformedPackageJson", make: write("{") },
  "is not UTF-8": {
    code: "MalformedPackageJson",
    make: write(
      Buffer.concat([Buffer.from(withField('"x": "')), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]),
    ),
  },
  "is UTF-16": {
    code: "MalformedPackageJson",
    make: write(Buffer.from('\uFEFF{"trailblaze": {}}', "utf16le")),
  },
  "is full of zeros": { code: "MalformedPackageJson", make: write(Buffer.alloc(4096)) },
  "has comments": {
    code: "MalformedPackageJson",
    make: write(`// hello\n${withField('"x": 1}')}`),
    place: { line: 1, column: 1 },
  },
  "is nested 100,000 deep": {
    code: "MalformedPackageJson",
    make: write(withField(`"deep": ${nested(100_000)}}`)),
    place: { line: 1, column: withField('"deep": ').length + 200 },
  },
  "is nested 201 deep": { code: "MalformedPackageJson", make: write(withField(`"deep": ${nested(201)}}`)) },
  "has 1 MiB and a byte": {
    code: "PackageJsonTooLarge",
    make: write(padded(mebibyte + 1, withField('"x": 1}'))),
  },
  "has 50 MB": { code: "PackageJsonTooLarge", make: write(padded(50e6, withField('"x": 1}'))) },
  "has 50 MB and mentions the field at the end": {
    code: "PackageJsonTooLarge",
    make: write(`{"x": "${"x".repeat(50e6)}", "trailblaze": {}}`),
  },
  "has 50 MB and is cut off": { code: "PackageJsonTooLarge", make: write(`{"x": "${"x".repeat(50e6)}`) },
  "has a terabyte of nothing": {
    code: "PackageJsonTooLarge",
    make: (path) => {
      writeFileSync(path, "");
      truncateSync(path, 2 ** 40);
    },
  },
  "is a folder": { code: "MalformedPackageJson", make: (path) => mkdirSync(path) },
  "is a link to a folder": { code: "MalformedPackageJson", make: (path) => makeLink(dirname(path), path) },
  "is a named pipe": { code: "MalformedPackageJson", make: makeFifo },
  "is a link that leads to itself": {
    code: "MalformedPackageJson",
    make: (path) => makeLink("package.json", path),
  },
  "is a link to a device": { code: "MalformedPackageJson", make: (path) => makeLink("/dev/zero", path) },
};

const noWindows = process.platform === "win32";

function expectProblem(
  found: Discovery,
  { code, place }: BadManifest,
  severity: string,
  location: string,
): void {
  expect(found.packs.map(({ name, problems }) => [name, problems])).toEqual([
    ["@acme/jira", []],
    ["zebra", []],
  ]);
  expect(found.problems).toHaveLength(1);
  const [problem] = found.problems;
  expect(problem).toMatchObject({ code, severity, file: "package.json", ...place, args: { location } });
  expect(problem?.message.length).toBeLessThan(600);
}

const neighbors = {
  "node_modules/@acme/jira/package.json": packManifest("@acme/jira"),
  "node_modules/zebra/package.json": packManifest("zebra"),
};

describe.skipIf(noWindows).each(Object.entries(badManifests))("a package.json that %s", (_, bad) => {
  test("the broken package.json of a declared dependency is an error, and all other packs are listed", async () => {
    const root = makeTree({
      "package.json": { name: "app", dependencies: { broken: "*", "@acme/jira": "*" } },
      ...neighbors,
      "node_modules/broken/index.js": "",
    });
    bad.make(join(root, "node_modules/broken/package.json"));
    const found = await discoverPacks({ cwd: root, all: true });
    expectProblem(found, bad, "error", join(root, "node_modules/broken"));
    expect(found.problems[0]?.pack).toBe("broken");
  });

  test("the broken package.json of an undeclared package is a warning, and all other packs are listed", async () => {
    const root = makeTree({
      "package.json": { name: "app", dependencies: { "@acme/jira": "*" } },
      ...neighbors,
      "node_modules/zebra/node_modules/@deep/broken/index.js": "",
    });
    bad.make(join(root, "node_modules/zebra/node_modules/@deep/broken/package.json"));
    const found = await discoverPacks({ cwd: root, all: true });
    expectProblem(found, bad, "warning", join(root, "node_modules/zebra/node_modules/@deep/broken"));
    expect(found.problems[0]?.pack).toBe("@deep/broken");
  });

  test("the broken package.json of the project is an error, and all packs are listed", async () => {
    const root = makeTree(neighbors);
    bad.make(join(root, "package.json"));
    const found = await discoverPacks({ cwd: root, all: true });
    expect(found.project).toBe(root);
    expectProblem(found, bad, "error", root);
  });

  test("the broken package.json of a member that the project does not depend on is a warning, and all packs are listed", async () => {
    const root = makeTree({
      "package.json": { name: "app", workspaces: ["packages/*"], dependencies: { "@acme/jira": "*" } },
      ...neighbors,
      "packages/broken/index.js": "",
    });
    bad.make(join(root, "packages/broken/package.json"));
    const found = await discoverPacks({ cwd: root, all: true });
    expectProblem(found, bad, "warning", join(root, "packages/broken"));
  });
});

test("the problem of a package.json without a readable name has no pack", async () => {
  const root = makeTree({
    "package.json": "{ broken",
    "pnpm-workspace.yaml": "packages: ['packages/*']",
    "packages/member/package.json": "{ broken",
  });
  const { problems } = await discoverPacks({ cwd: root, all: true });
  expect(problems).toHaveLength(2);
  for (const { pack = "" } of problems) expect(pack).not.toContain(root);
});

describe("an irrelevant package.json", () => {
  const list = async (manifest: string | Uint8Array) => {
    const root = makeTree({
      "package.json": { name: "app", dependencies: { other: "*" } },
      ...neighbors,
      "node_modules/other/package.json": manifest,
    });
    const { packs, problems } = await discoverPacks({ cwd: root, all: true });
    expect(packs.map(({ name }) => name)).toEqual(["@acme/jira", "zebra"]);
    return problems;
  };

  test.each([
    ["is invalid between its braces", '{ "name": other, }'],
    ["is invalid between its braces, after a mark and white space", "\uFEFF \r\n\t{ oops }\n\n"],
    ["is nested 100,000 deep", `{"deep": ${nested(100_000)}}`],
    ["has 50 MB", `{"x": "${"x".repeat(50e6)}"}`],
    ["has 50 MB, most of it white space at the end", `{"x": 1}${" ".repeat(50e6)}`],
    [
      "mentions us without being a pack",
      '{"name": "other", "keywords": ["trailblaze"], "dependencies": {"trailblaze": "1"}}',
    ],
    [
      "has the field inside of something else",
      '{"name": "other", "config": {"trailblaze": {"tools": ["a"]}}}',
    ],
    ["has two empty braces", "{}"],
  ])("a package.json is not reported if it %s", async (_, manifest) => {
    expect(await list(manifest)).toEqual([]);
  });

  test("a package.json that is not UTF-8 between its braces and has no field is not reported", async () => {
    expect(await list(Buffer.from([0x7b, 0xff, 0x7d]))).toEqual([]);
  });

  test("an invalid package.json that mentions the field anywhere is reported", async () => {
    expect(await list('{ "keywords": ["trailblaze"], oops }')).toEqual([
      expect.objectContaining({ code: "MalformedPackageJson", severity: "error" }),
    ]);
  });

  test("a folder without a package.json is not reported", async () => {
    const root = makeTree({ "package.json": { name: "app" }, ...neighbors, "node_modules/x/readme.md": "" });
    expect((await discoverPacks({ cwd: root, all: true })).problems).toEqual([]);
  });
});

describe("an unusual but valid package.json", () => {
  test.each([
    ["begins with a byte order mark", `\uFEFF${JSON.stringify(packManifest("odd"))}`],
    ["has exactly 1 MiB", padded(mebibyte, JSON.stringify(packManifest("odd")))],
    ["has white space around", `\r\n\t ${JSON.stringify(packManifest("odd"))}\n\n\n`],
    [
      "spells the field with an escape",
      JSON.stringify(packManifest("odd", { y: "trailblaze" })).replace(
        '"trailblaze":',
        '"trailbl\\u0061ze":',
      ),
    ],
    ["is nested 200 deep", JSON.stringify(packManifest("odd")).replace(/}$/, `,"deep":${nested(199)}}`)],
  ])("a package.json is read even if it %s", async (_, manifest) => {
    const root = makeTree({ "package.json": { name: "app" }, "node_modules/odd/package.json": manifest });
    const { packs, problems } = await discoverPacks({ cwd: root, all: true });
    expect(problems).toEqual([]);
    expect(packs.map(({ name }) => name)).toEqual(["odd"]);
  });
});

test("a package.json that is a link is followed, and one that leads nowhere is absent", async () => {
  const root = makeTree({
    "package.json": { name: "app", dependencies: { odd: "*" } },
    ...neighbors,
    "elsewhere.json": packManifest("odd"),
  });
  makeLink("../../elsewhere.json", join(root, "node_modules/odd/package.json"));
  makeLink("nowhere", join(root, "node_modules/dangling/package.json"));
  const { packs, problems } = await discoverPacks({ cwd: root, all: true });
  expect(packs.map(({ name }) => name)).toContain("odd");
  expect(problems).toEqual([]);
});

describe.skipIf(noWindows)("a package.json that is not a file", () => {
  const makeProject = () =>
    makeTree({
      "package.json": { name: "app", dependencies: { broken: "*" } },
      ...neighbors,
      "node_modules/broken/index.js": "",
    });

  test.each([
    ["writes nothing", "touch writing; sleep 60 > package.json"],
    [
      "writes a whole pack",
      `printf '{"name":"broken","trailblaze":{}}' > package.json; touch writing; sleep 60`,
    ],
  ])("a named pipe whose writer %s is reported without waiting for it", async (_, command) => {
    const root = makeProject();
    const folder = join(root, "node_modules/broken");
    makeFifo(join(folder, "package.json"));
    // The shell's redirection waits for a reader, so one is held open without reading.
    const script = `exec 3<>package.json; ${command.replace("> package.json", ">&3")}`;
    const writer = spawn("sh", ["-c", script], { cwd: folder, stdio: "ignore", detached: true });
    onTestFinished(() => {
      if (writer.pid !== undefined) process.kill(-writer.pid, "SIGKILL");
    });
    await waitUntil(() => existsSync(join(folder, "writing")));
    const found = await discoverPacks({ cwd: root, all: true });
    expectProblem(found, { code: "MalformedPackageJson", make: makeFifo }, "error", folder);
  });

  test("a socket is reported", async () => {
    const root = makeProject();
    const path = join(root, "node_modules/broken/package.json");
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(path, resolve));
    onTestFinished(() => {
      server.close();
    });
    expectProblem(
      await discoverPacks({ cwd: root, all: true }),
      { code: "MalformedPackageJson", make: makeFifo },
      "error",
      join(root, "node_modules/broken"),
    );
  });
});
