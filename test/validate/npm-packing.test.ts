import fc from "fast-check";
import packlist from "npm-packlist";
import { expect, test } from "vitest";
import { findUnpacked } from "../../src/validate/packing.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";
import { writeTree } from "../support/tree.ts";

const oneOf = (words: string) => fc.constantFrom(...words.split(" "));
const segment = oneOf("lib dist trailblaze node_modules build CVS @x .hidden");
const fileName = oneOf(
  "index.js a.json README.md c.orig package-lock.json .npmrc ._x config.gypi @at.js A.JSON",
);
const path = fc
  .tuple(fc.array(segment, { maxLength: 3 }), fileName)
  .map(([folders, name]) => [...folders, name].join("/"));
const pattern = oneOf(
  "lib dist/ ./lib /trailblaze *.js **/*.json !lib lib/* lib/index.js LIB index.js !*.json * trailblaze/lib coverage/ *.JS lib/** a.json/ *.json/x",
);
const ignoreFile = oneOf(".npmignore .gitignore lib/.npmignore trailblaze/.gitignore lib/dist/.npmignore");
const ignoreText = fc
  .array(
    pattern.map((one) => one.replace(/^\.\//, "")),
    { maxLength: 3 },
  )
  .map((lines) => lines.join("\n"));
const packages = fc.record({
  paths: fc.uniqueArray(path, { minLength: 1, maxLength: 12 }),
  files: fc.option(fc.array(pattern, { maxLength: 4 }), { nil: undefined }),
  ignores: fc.dictionary(ignoreFile, ignoreText, { maxKeys: 2 }),
  main: fc.option(fc.constantFrom("lib/index.js", "./index.js"), { nil: undefined }),
});

test("validation and npm-packlist agree on the files that npm would pack", {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(packages, async ({ paths, files, ignores, main }) => {
      const manifest = {
        name: "x",
        version: "1.0.0",
        ...(files ? { files } : {}),
        ...(main ? { main } : {}),
      };
      const folder = makeTemporaryFolder();
      try {
        const tree = Object.fromEntries(paths.map((one) => [one, "x"]));
        writeTree(folder.path, { ...tree, ...ignores, "package.json": manifest });
        const all = new Set(
          (await packlist({ path: folder.path, package: manifest, isProjectRoot: true })).map((file) =>
            file.replace(/^\.\//, ""),
          ),
        );
        const expected = paths.filter((file) => !all.has(file)).sort();
        const pack = { location: folder.path, manifest, workspace: undefined };
        expect([...(await findUnpacked(pack, paths))].sort()).toEqual(expected);
      } finally {
        folder.remove();
      }
    }),
    { numRuns: 50 },
  );
});
