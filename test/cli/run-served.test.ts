import { expect, test } from "vitest";
import { makeProject, toolPack } from "../session/support/session.ts";
import { runMain } from "../support/main.ts";

const makeShops = () =>
  makeProject(
    {
      "@acme/shop": toolPack({ find: {} }, "export const find = () => 'shop';"),
      "@acme/wiki": toolPack({ find: {} }, "export const find = () => 'wiki';"),
    },
    {
      "trailblaze.config.json": { logDir: "logs" },
      "trail.yaml": "- wiki_find: {}\n- shop_find: {}\n",
      "bare.yaml": "- wiki_find: {}\n- find: {}\n",
    },
  );

test("`run --served` replays a trail with the names that `start` serves", async () => {
  const { exitCode, stdout } = await runMain(["run", "trail.yaml", "--served", "--json"], {
    cwd: makeShops(),
  });
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout).steps).toMatchObject([
    { tool: "wiki_find", variant: "Success", message: "wiki" },
    { tool: "shop_find", variant: "Success", message: "shop" },
  ]);
});

test.each([
  ["with `--served` and a bare name that several tools have", ["bare.yaml", "--served"], "ToolNotFound"],
  ["without `--served`, if names collide", ["trail.yaml"], "NameCollision"],
])("`run` fails before its first step %s", async (_, args, code) => {
  const { exitCode, stdout } = await runMain(["run", ...args, "--json"], { cwd: makeShops() });
  const { error, steps } = JSON.parse(stdout);
  expect({ code: error.code, steps }).toEqual({ code, steps: undefined });
  expect(exitCode).not.toBe(0);
});

test("`tools --served` and `call --served` have the cut names that `start` serves", async () => {
  const name = "x".repeat(60);
  const described = { title: "X", outputSchema: { type: "object" }, annotations: { readOnlyHint: true } };
  const cwd = makeProject({
    shop: toolPack(
      { [name]: described },
      `export const ${name} = () => ({ content: [], structuredContent: {} });`,
    ),
  });
  const { stdout } = await runMain(["tools", "--served", "--json"], { cwd });
  const [tool] = JSON.parse(stdout).tools;
  expect(tool).toMatchObject({ ...described, name: expect.stringMatching(/^x{38}_[0-9a-f]{8}$/) });
  const { exitCode } = await runMain(["call", tool.name, "--served"], { cwd });
  expect(exitCode).toBe(0);
});
