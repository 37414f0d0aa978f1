import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findReadGrants } from "../../src/confinement/confined-grants.ts";
import { makeTree } from "../support/packs.ts";
import { evaluateIn, usableMethods } from "./evaluate-pack.ts";

const read = (...paths: string[]) =>
  `import fs from "node:fs";
  const read = (path) => { try { return fs.readFileSync(new URL(path, import.meta.url), "utf8"); } catch (error) { return error.code; } };
  export default { read: ${JSON.stringify(paths)}.map(read) };`;

const index = (name: string, ...needed: string[]) =>
  `module.exports = [${[`"${name}"`, ...needed.map((one) => `...require("${one}")`)].join(", ")}];`;

describe.each(usableMethods)("a pack that is evaluated with %s", (method) => {
  const options = { methods: [method] };

  test("a confined pack cannot read packages that it does not depend on, or anything else in node_modules", async () => {
    const root = makeTree({
      "package.json": { name: "app", secret: "hunter2" },
      "node_modules/pack/package.json": { name: "pack", type: "module", dependencies: { dep: "1" } },
      "node_modules/pack/tool.js": read(
        "./package.json",
        "../dep/index.js",
        "../deeper/index.js",
        "../beside/secret.txt",
        "../beside/package.json",
        "../@acme/beside/secret.txt",
        "../.cache/token",
        "../.package-lock.json",
        "../../package.json",
        "../../../node_modules/above/secret.txt",
      ).replace("hunter2", ""),
      "node_modules/pack/list.js": `import fs from "node:fs"; let list; try { list = fs.readdirSync(new URL("..", import.meta.url)); } catch (error) { list = error.code; } export default { list };`,
      "node_modules/pack/import.js": `import "beside"; export default {};`,
      "node_modules/dep/package.json": { name: "dep", dependencies: { deeper: "1" } },
      "node_modules/dep/index.js": "dep",
      "node_modules/deeper/package.json": { name: "deeper" },
      "node_modules/deeper/index.js": "deeper",
      "node_modules/beside/package.json": { name: "beside", secret: "hunter2" },
      "node_modules/beside/index.js": "",
      "node_modules/beside/secret.txt": "hunter2",
      "node_modules/@acme/beside/package.json": { name: "@acme/beside" },
      "node_modules/@acme/beside/secret.txt": "hunter2",
      "node_modules/.cache/token": "hunter2",
      "node_modules/.package-lock.json": "hunter2",
    });
    const files = ["tool.js", "list.js", "import.js"];
    const { results } = await evaluateIn(join(root, "node_modules/pack"), files, options);
    const denied = "ERR_ACCESS_DENIED";
    expect(results["tool.js"]).toEqual({
      value: {
        read: [
          expect.stringContaining("pack"),
          "dep",
          "deeper",
          ...Array.from({ length: 7 }, () => expect.stringMatching(/^(?:ERR_ACCESS_DENIED|ENOENT)$/)),
        ],
      },
    });
    expect(results["list.js"]).toEqual({ value: { list: denied } });
    expect(results["import.js"]).toEqual({ reason: expect.stringMatching(/declared dependencies$/) });
  });

  test("a confined pack can load its dependencies and theirs: hoisted, nested, scoped, optional and of peers", async () => {
    const root = makeTree({
      "node_modules/pack/package.json": {
        name: "pack",
        dependencies: { dep: "1" },
        peerDependencies: { "@acme/peer": "1" },
        optionalDependencies: { optional: "1", lacking: "1" },
      },
      "node_modules/pack/tool.js": `
        const found = [...require("dep"), ...require("@acme/peer"), ...require("optional"), require("dep/package.json").version];
        const codes = ["lacking", "undeclared", "nowhere"].map((name) => { try { require(name); } catch (error) { return error.code; } });
        module.exports = { found, codes };`,
      "node_modules/dep/package.json": {
        name: "dep",
        version: "1.0.0",
        dependencies: { deep: "1", flat: "1" },
      },
      "node_modules/dep/index.js": index("dep", "deep", "flat"),
      "node_modules/dep/node_modules/deep/package.json": {
        name: "deep",
        dependencies: { flat: "1", deepest: "1" },
      },
      "node_modules/dep/node_modules/deep/index.js": index("deep", "flat", "deepest"),
      "node_modules/flat/package.json": { name: "flat" },
      "node_modules/flat/index.js": index("flat"),
      "node_modules/deepest/index.js": index("deepest"),
      "node_modules/@acme/peer/package.json": { name: "@acme/peer", dependencies: { dep: "1" } },
      "node_modules/@acme/peer/index.js": index("peer", "flat"),
      "node_modules/optional/package.json": { name: "optional" },
      "node_modules/optional/index.js": index("optional"),
      "node_modules/undeclared/package.json": { name: "undeclared" },
      "node_modules/undeclared/index.js": index("undeclared"),
    });
    const { results } = await evaluateIn(join(root, "node_modules/pack"), ["tool.js"], options);
    const found = ["dep", "deep", "flat", "deepest", "flat", "peer", "flat", "optional", "1.0.0"];
    const [code] = Object.values(results).flatMap((result) =>
      "value" in result ? [result.value] : [result],
    );
    expect(code).toMatchObject({ found });
    const codes = (code as { codes: string[] }).codes;
    expect(codes[0]).toBe("MODULE_NOT_FOUND");
    expect(codes[2]).toBe("MODULE_NOT_FOUND");
    // Where it is there, Node finds it before it may not read it, or does not find it at all.
    expect(["MODULE_NOT_FOUND", "ERR_ACCESS_DENIED"]).toContain(codes[1]);
  });

  test("a confined pack can load a dependency from a parent folder if nearer folders hold other packages", async () => {
    const root = makeTree({
      "node_modules/dep/package.json": { name: "dep" },
      "node_modules/dep/index.js": index("dep"),
      "packages/node_modules/other/package.json": { name: "other" },
      "packages/pack/package.json": { name: "pack", dependencies: { dep: "1" } },
      "packages/pack/tool.js": 'module.exports = { found: require("dep") };',
    });
    const { results } = await evaluateIn(join(root, "packages/pack"), ["tool.js"], options);
    expect(results["tool.js"]).toEqual({ value: { found: ["dep"] } });
  });

  test.each(["node_modules/.pnpm", "node_modules/.store", "elsewhere/store"])(
    "in an isolated store in %s, a confined pack can read only its dependencies' folders",
    async (store) => {
      const unit = (name: string) => `${store}/${name}@1.0.0/node_modules`;
      const root = makeTree({
        "package.json": { name: "app" },
        [`${unit("pack")}/pack/package.json`]: { name: "pack", dependencies: { dep: "1" } },
        [`${unit("pack")}/pack/tool.js`]: `
          const fs = require("node:fs");
          const read = (path) => { try { return fs.readFileSync(path, "utf8"); } catch (error) { return error.code; } };
          const store = ${JSON.stringify("../../..")};
          module.exports = {
            found: require("dep"),
            read: [
              read(__dirname + "/../../../other@1.0.0/node_modules/other/secret.txt"),
              read(__dirname + "/../../../node_modules/other/secret.txt"),
              read(__dirname + "/../../../lock.yaml"),
            ],
          };`,
        [`${unit("dep")}/dep/package.json`]: { name: "dep", dependencies: { deeper: "1" } },
        [`${unit("dep")}/dep/index.js`]: index("dep", "deeper"),
        [`${unit("deeper")}/deeper/package.json`]: { name: "deeper" },
        [`${unit("deeper")}/deeper/index.js`]: index("deeper"),
        [`${unit("other")}/other/package.json`]: { name: "other" },
        [`${unit("other")}/other/secret.txt`]: "hunter2",
        [`${store}/node_modules/readme.txt`]: "",
        [`${store}/lock.yaml`]: "hunter2",
      });
      const link = (target: string, path: string) => {
        mkdirSync(join(root, path, ".."), { recursive: true });
        symlinkSync(join(root, target), join(root, path));
      };
      link(`${unit("dep")}/dep`, `${unit("pack")}/dep`);
      link(`${unit("deeper")}/deeper`, `${unit("dep")}/deeper`);
      link(`${unit("other")}/other`, `${store}/node_modules/other`);
      link(`${unit("pack")}/pack`, "node_modules/pack");
      const { results } = await evaluateIn(join(root, "node_modules/pack"), ["tool.js"], options);
      expect(results["tool.js"]).toEqual({
        value: {
          found: ["dep", "deeper"],
          read: Array.from({ length: 3 }, () => expect.stringMatching(/^(?:ERR_ACCESS_DENIED|ENOENT)$/)),
        },
      });
    },
  );
});

describe("the number of readable paths", () => {
  test("if the paths exceed the limit, nearer packages come first", () => {
    const name = (number: number) => `dependency-${String(number).padStart(4, "0")}`;
    const root = makeTree({
      "node_modules/pack/package.json": { name: "pack", dependencies: { [name(0)]: "1" } },
      ...Object.fromEntries(
        Array.from({ length: 2500 }, (_, number) => [
          `node_modules/${name(number)}/package.json`,
          { name: name(number), dependencies: { [name(number + 1)]: "1" } },
        ]),
      ),
    });
    const { readable } = findReadGrants(join(root, "node_modules/pack"));
    expect(readable.slice(0, 2)).toEqual([
      join(root, "node_modules/pack"),
      join(root, "node_modules", name(0)),
    ]);
    expect(readable).toHaveLength(2000);
  });

  test("a child process starts with the maximum number of paths", async () => {
    const names = Array.from({ length: 1000 }, (_, number) => `a-dependency-with-a-long-name-${number}`);
    const root = makeTree({
      "node_modules/pack/package.json": {
        name: "pack",
        type: "module",
        dependencies: Object.fromEntries(names.map((name) => [name, "1"])),
      },
      "node_modules/pack/tool.js": `import last from "${names.at(-1)}"; export default { last };`,
      ...Object.fromEntries(
        names.flatMap((name) => [
          [`node_modules/${name}/package.json`, { name }],
          [`node_modules/${name}/index.js`, `module.exports = "${name}";`],
        ]),
      ),
    });
    const { results } = await evaluateIn(join(root, "node_modules/pack"), ["tool.js"]);
    expect(results["tool.js"]).toEqual({ value: { last: names.at(-1) } });
  });
});
