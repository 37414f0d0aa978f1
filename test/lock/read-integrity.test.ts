import { chmodSync, realpathSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readIntegrities } from "../../src/lock/read-integrity.ts";
import { makeTree } from "../support/packs.ts";
import { makeFifo } from "../support/special-files.ts";

const hashes = ["a", "b", "c", "d"].map((letter) => `sha512-${letter.repeat(86)}==`);
const [a = "", b = "", c = "", d = ""] = hashes;

const makeFolder = (files: Record<string, string>) =>
  realpathSync(makeTree({ "package.json": { name: "project" }, ...files }));

/** What is read for packages given as `[name, version, path from the first folder]`, by path. */
function read(
  folders: readonly string[],
  packages: readonly [name: string, version: string | null, path: string][],
) {
  const [folder = ""] = folders;
  const found = readIntegrities(
    folders,
    packages.map(([name, version, path]) => ({ name, version, location: join(folder, path) })),
  );
  return Object.fromEntries(
    packages.flatMap(([, , path]) => {
      const integrity = found.get(join(folder, path));
      return integrity === undefined ? [] : [[path, integrity]];
    }),
  );
}

const jira = ["@acme/jira", "1.2.0", "node_modules/@acme/jira"] as const;

const npmLockfile = {
  lockfileVersion: 3,
  packages: {
    "": { dependencies: { "@acme/jira": "^1.2.0" } },
    "node_modules/@acme/jira": { version: "1.2.0", resolved: "https://localhost/jira.tgz", integrity: a },
    "node_modules/host/node_modules/@acme/jira": { version: "1.0.0", integrity: b },
    "node_modules/alias": { name: "@acme/jira", version: "1.2.0", integrity: c },
    "node_modules/from-git": { version: "1.0.0", resolved: "git+ssh://git@localhost/x.git#1", integrity: d },
    "node_modules/linked": { resolved: "packages/linked", link: true },
    "node_modules/tricky": { version: "1.0.0", dependencies: { integrity: a, version: "1.0.0" } },
    "packages/linked": { version: "1.0.0" },
    "größe/node_modules/@acme/jira": { version: "1.2.0", integrity: d },
  },
};
const npmText = JSON.stringify(npmLockfile, null, 2);

describe("integrities from npm's lockfile", () => {
  const all = [
    jira,
    ["@acme/jira", "1.0.0", "node_modules/host/node_modules/@acme/jira"],
    ["@acme/jira", "1.2.0", "node_modules/alias"],
    ["from-git", "1.0.0", "node_modules/from-git"],
    ["linked", "1.0.0", "packages/linked"],
    ["tricky", "1.0.0", "node_modules/tricky"],
    ["@acme/jira", "1.2.0", "größe/node_modules/@acme/jira"],
    ["absent", "1.0.0", "node_modules/absent"],
  ] as const;
  const expected = {
    "node_modules/@acme/jira": a,
    "node_modules/host/node_modules/@acme/jira": b,
    "node_modules/alias": c,
    "größe/node_modules/@acme/jira": d,
  };

  test.each([
    ["package-lock.json", npmText],
    ["npm-shrinkwrap.json", npmText],
    ["package-lock.json", JSON.stringify(npmLockfile, null, "\t")],
    ["package-lock.json", npmText.replaceAll("\n", "\r\n")],
  ])("the entry of a package's path in %s gives its integrity (form %#)", (file, text) => {
    expect(read([makeFolder({ [file]: text })], [...all.map((one) => [...one] as never)])).toEqual(expected);
  });

  test("npm-shrinkwrap.json is read instead of package-lock.json, as npm does", () => {
    const folder = makeFolder({ "package-lock.json": npmText, "npm-shrinkwrap.json": npmText.replace(a, b) });
    expect(read([folder], [[...jira]])).toEqual({ [jira[2]]: b });
  });

  test("a package whose installed version differs, or which has none, has no integrity", () => {
    const folder = makeFolder({ "package-lock.json": npmText });
    expect(read([folder], [["@acme/jira", "1.2.1", jira[2]]])).toEqual({});
    expect(read([folder], [["@acme/jira", null, jira[2]]])).toEqual({});
  });

  test("a package with two entries of one path has no integrity", () => {
    const again = npmText.replace(
      '"packages": {',
      `"packages": {\n    "node_modules/@acme/jira": {\n      "version": "1.2.0",\n      "integrity": "${b}"\n    },`,
    );
    expect(read([makeFolder({ "package-lock.json": again })], [[...jira]])).toEqual({});
  });
});

describe("integrities from lockfiles of other package managers", () => {
  test("pnpm-lock.yaml of version 6 gives the integrity by name and version", () => {
    const text = `lockfileVersion: '6.0'

packages:

  /@acme/jira@1.2.0:
    resolution: {integrity: ${a}}
    dev: false

  /@acme/jira@1.0.0(react@18.2.0):
    resolution: {integrity: ${b}, tarball: https://localhost/jira.tgz}
    dev: false

  file:local:
    resolution: {directory: local, type: directory}
    name: local
    dev: false
`;
    const packages = [
      [...jira],
      ["@acme/jira", "1.0.0", "node_modules/.pnpm/x/node_modules/@acme/jira"],
      ["local", "1.0.0", "node_modules/.pnpm/file+local/node_modules/local"],
    ] as never;
    expect(read([makeFolder({ "pnpm-lock.yaml": text })], packages)).toEqual({
      "node_modules/@acme/jira": a,
      "node_modules/.pnpm/x/node_modules/@acme/jira": b,
    });
  });

  test("pnpm-lock.yaml of version 9 gives the integrity of tarballs, but not of Git dependencies and folders", () => {
    const text = `lockfileVersion: '9.0'

packages:

  '@acme/jira@file:jira.tgz':
    resolution: {integrity: ${a}, tarball: file:jira.tgz}
    version: 1.2.0
    engines: {node: '>=20'}

  git@https://codeload.localhost/tar.gz/1:
    resolution: {gitHosted: true, integrity: ${b}, tarball: https://codeload.localhost/tar.gz/1}
    version: 1.0.0

  local@file:local:
    resolution: {directory: local, type: directory}

  local@1.0.0:
    resolution: {integrity: ${c}}

snapshots:

  '@acme/jira@file:jira.tgz': {}
`;
    const packages = [
      [...jira],
      ["git", "1.0.0", "node_modules/git"],
      ["local", "1.0.0", "node_modules/local"],
    ];
    expect(read([makeFolder({ "pnpm-lock.yaml": text })], packages as never)).toEqual({ [jira[2]]: a });
  });

  test("pnpm's store may be outside the project", () => {
    const text = `lockfileVersion: '9.0'\n\npackages:\n\n  '@acme/jira@1.2.0':\n    resolution: {integrity: ${a}}\n`;
    const stored = "../store/@acme/jira/1.2.0/0123/node_modules/@acme/jira";
    const linked = "../other/node_modules/@acme/jira";
    const packages = [stored, linked].map((path) => ["@acme/jira", "1.2.0", path]);
    expect(read([makeFolder({ "pnpm-lock.yaml": text })], packages as never)).toEqual({ [stored]: a });
  });

  test("yarn.lock of Yarn 1 gives the integrity of an alias that shares an entry", () => {
    const text = `# yarn lockfile v1


"@acme/jira@^1.0.0", "other@npm:@acme/jira@1.2.0":
  version "1.2.0"
  resolved "https://localhost/jira.tgz#1"
  integrity ${a}

git@https://localhost/git.git:
  version "1.0.0"
  resolved "https://localhost/git.git#1"
  dependencies:
    integrity "^1.0.0"
`;
    const packages = [
      [...jira],
      ["@acme/jira", "1.2.0", "node_modules/other"],
      ["git", "1.0.0", "node_modules/git"],
    ];
    const expected = { [jira[2]]: a, "node_modules/other": a };
    expect(read([makeFolder({ "yarn.lock": text })], packages as never)).toEqual(expected);
    const windows = text.replaceAll("\n", "\r\n");
    expect(read([makeFolder({ "yarn.lock": windows })], packages as never)).toEqual(expected);
  });

  test("yarn.lock of Yarn 4 gives no checksum of a patched package, a folder or a Git repository", () => {
    const entry = (resolution: string, version: string, checksum: string) =>
      `"${resolution}":\n  version: ${version}\n  resolution: "${resolution}"\n  checksum: 10c0/${checksum}\n  languageName: node\n  linkType: hard\n`;
    const text = [
      "__metadata:\n  version: 8\n  cacheKey: 10c0\n",
      entry("@acme/jira@npm:1.2.0", "1.2.0", "aa"),
      entry("patched@npm:1.0.0", "1.0.0", "bb"),
      entry("patched@patch:patched@npm%3A1.0.0#./p.patch::version=1.0.0&hash=1", "1.0.0", "cc"),
      entry("local@file:./local#./local::hash=1&locator=root%40workspace%3A.", "1.0.0", "dd"),
      entry("git@https://localhost/git.git#commit=1", "1.0.0", "ee"),
      entry("packed@file:./packed.tgz#./packed.tgz::hash=1&locator=root%40workspace%3A.", "1.0.0", "ff"),
    ].join("\n");
    const rest = ["patched", "local", "git", "packed"].map((name) => [name, "1.0.0", `node_modules/${name}`]);
    expect(read([makeFolder({ "yarn.lock": text })], [[...jira], ...rest] as never)).toEqual({
      [jira[2]]: "yarn:10c0/aa",
      "node_modules/packed": "yarn:10c0/ff",
    });
  });

  test("bun.lock gives the integrity by the name and version of an entry", () => {
    const text = `{
  "lockfileVersion": 1,
  "workspaces": {
    "": { "dependencies": { "@acme/jira": "^1.2.0" } },
  },
  "packages": {
    "@acme/jira": ["@acme/jira@1.2.0", "", { "dependencies": { "text": "^1.0.0" } }, "${a}"],

    "alias": ["@acme/jira@1.0.0", "", {}, "${b}"],

    "git": ["git@github:acme/git#1234567", {}, "acme-git-1234567", "${c}"],

    "member": ["member@workspace:packages/member"],

    "host/member": ["member@1.0.0", "", {}, "${d}"],
  }
}
`;
    const packages = [
      [...jira],
      ["@acme/jira", "1.0.0", "node_modules/alias"],
      ["git", "1.0.0", "node_modules/git"],
      ["member", "1.0.0", "packages/member"],
      ["member", "1.0.0", "node_modules/.bun/member@1.0.0/node_modules/member"],
    ];
    expect(read([makeFolder({ "bun.lock": text })], packages as never)).toEqual({
      [jira[2]]: a,
      "node_modules/alias": b,
      "node_modules/.bun/member@1.0.0/node_modules/member": d,
    });
  });

  test("deno.lock gives the integrity by name and version, whatever the peers", () => {
    const text = JSON.stringify(
      {
        version: "5",
        specifiers: { "npm:@acme/jira@^1.2.0": "1.2.0_react@18.2.0" },
        jsr: { "@std/assert@1.0.0": { integrity: "0123" } },
        npm: {
          "@acme/jira@1.0.0": { integrity: b, dependencies: ["react"] },
          "@acme/jira@1.2.0_react@18.2.0": { integrity: a, dependencies: ["react"] },
        },
      },
      null,
      2,
    );
    const folder = makeFolder({ "deno.lock": text });
    const stored = "node_modules/.deno/@acme+jira@1.0.0/node_modules/@acme/jira";
    const packages = [
      [...jira],
      ["@acme/jira", "1.0.0", stored],
      ["@std/assert", "1.0.0", "node_modules/@std/assert"],
    ];
    expect(read([folder], packages as never)).toEqual({ [jira[2]]: a, [stored]: b });
  });
});

describe("the lockfile that is read", () => {
  test("integrities come from the first folder with a lockfile, even if it lists nothing", () => {
    const root = makeFolder({
      "package-lock.json": npmText,
      "packages/member/package.json": "{}",
      "packages/other/package-lock.json": '{\n  "packages": {}\n}\n',
    });
    const location = join(root, jira[2]);
    const packages = [{ name: "@acme/jira", version: "1.2.0", location }];
    expect(readIntegrities([join(root, "packages/member"), root], packages)).toEqual(
      new Map([[location, a]]),
    );
    expect(readIntegrities([join(root, "packages/other"), root], packages)).toEqual(new Map());
    expect(readIntegrities([], packages)).toEqual(new Map());
  });

  test("of several lockfiles, that of the package manager that installed is read", () => {
    const yarn = `"@acme/jira@^1.0.0":\n  version "1.2.0"\n  integrity ${b}\n`;
    const files = { "package-lock.json": npmText, "yarn.lock": `# yarn lockfile v1\n\n\n${yarn}` };
    expect(read([makeFolder({ ...files })], [[...jira]])).toEqual({ [jira[2]]: a });
    const installed = makeFolder({ ...files, "node_modules/.yarn-integrity": "{}" });
    expect(read([installed], [[...jira]])).toEqual({ [jira[2]]: b });
  });

  test("a folder given by a link finds its packages by their real paths", () => {
    const folder = makeFolder({ "package-lock.json": npmText });
    const link = join(makeFolder({}), "link");
    symlinkSync(folder, link, "junction");
    const location = join(folder, jira[2]);
    const found = readIntegrities([link], [{ name: "@acme/jira", version: "1.2.0", location }]);
    expect(found).toEqual(new Map([[location, a]]));
  });

  const conflict = `<<<<<<< HEAD\n=======\n>>>>>>> branch\n`;
  const pnpmText = `lockfileVersion: '9.0'\n\npackages:\n\n  '@acme/jira@1.2.0':\n    resolution: {integrity: ${a}}\n`;
  test.each([
    ["npm lockfile that ends too early", "package-lock.json", npmText.slice(0, -20)],
    ["npm lockfile that is not JSON", "package-lock.json", `x${npmText}`],
    ["empty lockfile", "package-lock.json", ""],
    ["npm lockfile with merge markers", "package-lock.json", npmText.replace("{\n", `{\n${conflict}`)],
    ["pnpm lockfile with merge markers", "pnpm-lock.yaml", pnpmText + conflict],
    ["pnpm lockfile that begins with merge markers", "pnpm-lock.yaml", conflict + pnpmText],
    ["lockfile with an integrity that is not one", "pnpm-lock.yaml", pnpmText.replace(a, "sha512-\x1b[31m")],
    ["lockfile with an integrity of two lines", "pnpm-lock.yaml", pnpmText.replace(a, "sha512-aa\nbb")],
    ["binary lockfile", "bun.lock", "\0\xff\xfe".repeat(1000)],
  ])("a %s gives no integrity", (_, file, text) => {
    expect(read([makeFolder({ [file]: text })], [[...jira]])).toEqual({});
  });

  test("a lockfile that is a named pipe, a folder, unreadable or too large gives no integrity", () => {
    const pipe = makeFolder({});
    makeFifo(join(pipe, "package-lock.json"));
    const folder = makeFolder({ "yarn.lock/file": "" });
    const unreadable = makeFolder({ "package-lock.json": npmText });
    chmodSync(join(unreadable, "package-lock.json"), 0);
    const large = makeFolder({});
    writeFileSync(join(large, "pnpm-lock.yaml"), pnpmText);
    truncateSync(join(large, "pnpm-lock.yaml"), 65 << 20);
    for (const one of [pipe, folder, large]) expect(read([one], [[...jira]])).toEqual({});
    // Permissions do not bind root.
    if (process.getuid?.() !== 0) expect(read([unreadable], [[...jira]])).toEqual({});
  });

  test("300 packages are read from a lockfile of 5 MB in one pass", () => {
    const folder = makeFolder({});
    const entry = (index: number) => `  '@acme/p${index}@1.0.0':\n    resolution: {integrity: ${a}}\n\n`;
    let text = "lockfileVersion: '9.0'\n\npackages:\n\n";
    for (let index = 0; text.length < 5_000_000; index++) text += entry(index);
    writeFileSync(join(folder, "pnpm-lock.yaml"), text);
    const packages = Array.from({ length: 300 }, (_, index) => {
      const name = `@acme/p${index * 40}`;
      return { name, version: "1.0.0", location: join(folder, "node_modules", name) };
    });
    const start = process.cpuUsage();
    expect(readIntegrities([folder], packages).size).toBe(300);
    const { user, system } = process.cpuUsage(start);
    // A tenth of a second, while one search for each package takes seconds.
    expect((user + system) / 1000).toBeLessThan(1000);
  });

  test("a hostile lockfile of one long line is read in linear time", () => {
    const marks = {
      "package-lock.json": '{"node_modules/": {',
      "bun.lock": '": ["@acme/jira@1.2.0',
      "deno.lock": '"@acme/jira@1.2.0": {"integrity": "',
    };
    for (const [file, mark] of Object.entries(marks)) {
      const folder = makeFolder({ [file]: `{${mark.repeat(40_000)}}` });
      const start = process.cpuUsage();
      expect(read([folder], [[...jira]])).toEqual({});
      expect(process.cpuUsage(start).user / 1000).toBeLessThan(1000);
    }
  });
});
