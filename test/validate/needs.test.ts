// What a pack needs, in validation. `test/extension-schema/needs.test.ts` has the forms of each key.
import { expect, test } from "vitest";
import { validateTree } from "./validate-tree.ts";

const judge = async (needs: unknown, server: object = {}) => {
  const problems = await validateTree({
    extension: { servers: [["desk", "A desk."]], needs },
    files: {
      "server.js": "process.stdin.resume();",
      "trailblaze/servers/desk.json": { script: "./server.js", ...server },
    },
  });
  return problems.map(({ code, severity, file, path = [], line }) => [
    `${severity} ${code}`,
    file,
    path.join("."),
    line,
  ]);
};

test("validation reports invalid needs as errors at their lines", async () => {
  expect(await judge({ env: ["A", "B-C"], hosts: [], tools: "web_click" })).toEqual([
    ["error InvalidNeeds", "package.json", "needs.hosts", 22],
    ["error InvalidNeeds", "package.json", "needs.env.1", 20],
    ["error InvalidNeeds", "package.json", "needs.tools", 23],
  ]);
});

test.each([
  [{ env: ["A", "B"] }, ["B"], []],
  [{ env: [] }, ["A", "A"], ["envPassthrough.0", "envPassthrough.1"]],
  [{ env: ["A"] }, ["A", "__proto__", "A\u200b"], ["envPassthrough.1", "envPassthrough.2"]],
])("with the needs %j, envPassthrough %j exceeds them at %j", async (needs, envPassthrough, paths) => {
  const found = await judge(needs, { envPassthrough });
  const exceeded = found.filter(([code]) => code === "error NeedsExceeded");
  expect(exceeded.map(([, , path]) => path)).toEqual(paths);
  for (const [, file] of exceeded) expect(file).toBe("trailblaze/servers/desk.json");
});
