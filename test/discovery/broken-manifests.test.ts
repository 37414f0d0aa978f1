import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Discovery, discoverPacks, type ProblemCode } from "../../src/index.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { makeFifo, makeLink } from "../support/special-files.ts";

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
  place?: { line: number; column: number } | undefined;
}

type Content = string | Uint8Array | ((path: string) => void);
const bad =
  (code: ProblemCode) =>
  (content: Content, line?: number, column = 1): BadManifest => ({
    code,
    make: typeof content === "function" ? content : (path) => writeFileSync(path, content),
    place: line === undefined ? undefined : { line, column },
  });
const malformed = bad("MalformedPackageJson");
const tooLarge = bad("PackageJsonTooLarge");
const notUtf8 = [Buffer.from(withField('"x": "')), Buffer.from([0xff, 0xfe]), Buffer.from('"}')];

const badManifests: Readonly<Record<string, BadManifest>> = {
  "mentions the field and is no JSON": malformed(withField('oops\n  "x": 1 }'), 1, 72),
  "is an array": malformed('[{"trailblaze": {}}]', 1),
  "is empty": malformed("", 1),
  "is not UTF-8": malformed(Buffer.concat(notUtf8)),
  "is nested 100,000 deep": malformed(
    withField(`"deep": ${nested(100_000)}}`),
    1,
    withField('"deep": ').length + 200,
  ),
  "has 1 MiB and a byte": tooLarge(padded(mebibyte + 1, withField('"x": 1}'))),
  "has a terabyte of nothing": tooLarge((path) => {
    writeFileSync(path, "");
    truncateSync(path, 2 ** 40);
  }),
  "is a folder": malformed((path) => mkdirSync(path)),
  "is a named pipe": malformed(makeFifo),
  "is a link that leads to itself": malformed((path) => makeLink("package.json", path)),
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

type Place = [what: string, severity: string, folder: string, pack?: string | undefined, project?: object];

/** Where a broken package.json may be: its folder, its pack's name, and the package.json of the project. */
const places: Place[] = [
  ["a dependency is an error", "error", "node_modules/broken", "broken", { dependencies: { broken: "*" } }],
  ["an undeclared package is a warning", "warning", "node_modules/zebra/node_modules/@deep/b", "@deep/b", {}],
  ["the project is an error", "error", ""],
  ["a member is a warning", "warning", "packages/broken", undefined, { workspaces: ["packages/*"] }],
];

// Both ways to read one with all that may be wrong with it, and the other places with one fault.
describe.skipIf(noWindows).each(Object.entries(badManifests))("a package.json that %s", (what, bad) => {
  const isFirst = what === Object.keys(badManifests)[0];
  test.each(isFirst ? places : places.filter(([, severity]) => severity === "error"))(
    "that of %s, and all other packs are listed",
    async (_, severity, folder, pack, project) => {
      const root = makeTree({
        ...neighbors,
        ...(project === undefined ? {} : { "package.json": { name: "app", ...project } }),
        [join(folder, "index.js")]: "",
      });
      bad.make(join(root, folder, "package.json"));
      const found = await discoverPacks({ cwd: root, all: true });
      expect(found.project).toBe(root);
      expectProblem(found, bad, severity, join(root, folder));
      if (/folder|pipe/.test(what)) expect(found.problems[0]?.message).toContain(`it ${what}`);
      if (pack !== undefined) expect(found.problems[0]?.pack).toBe(pack);
    },
  );
});

test.each([
  ["is invalid between its braces", '{ "name": other, }', []],
  [
    "mentions us without being a pack",
    '{"name": "odd", "keywords": ["trailblaze"], "dependencies": {"trailblaze": "1"}}',
    [],
  ],
  ["has exactly 1 MiB", padded(mebibyte, JSON.stringify(packManifest("odd"))), ["odd"]],
  [
    "spells the field with an escape",
    JSON.stringify(packManifest("odd", { y: "trailblaze" })).replace('"trailblaze":', '"trailbl\\u0061ze":'),
    ["odd"],
  ],
])(
  "a package.json that %s is not reported, and is a pack if it has the field",
  async (_, manifest, names) => {
    const root = makeTree({
      "package.json": { name: "app", dependencies: { odd: "*" } },
      ...neighbors,
      "node_modules/odd/package.json": manifest,
    });
    const { packs, problems } = await discoverPacks({ cwd: root, all: true });
    expect(packs.map(({ name }) => name)).toEqual(["@acme/jira", ...names, "zebra"]);
    expect(problems).toEqual([]);
  },
);

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
