import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { runMain } from "../support/main.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { waitUntil } from "../support/wait-until.ts";

const makeProject = (files: Record<string, unknown> = {}) =>
  makeTree({
    "package.json": { name: "app", dependencies: { desk: "1.0.0" } },
    "node_modules/desk/package.json": packManifest("desk"),
    ...files,
  });

test("`catalog` writes a site, and writes nothing when run again", async () => {
  const cwd = makeProject();
  expect(await runMain(["catalog", "--out", "site", "--title", "Our <tools>"], { cwd })).toMatchObject({
    stdout: `${join("site", "index.html")} now shows 1 pack\n`,
    stderr: "",
    exitCode: 0,
  });
  expect(readFileSync(join(cwd, "site/index.html"), "utf8")).toContain("<h1>Our &lt;tools&gt;</h1>");
  const again = await runMain(["catalog", "--out", "site", "--title", "Our <tools>", "--json"], { cwd });
  expect(JSON.parse(again.stdout)).toEqual({
    folder: join(cwd, "site"),
    index: join(cwd, "site", "index.html"),
    changed: false,
    files: ["catalog.json", "index.html"].map((file) => ({ file, changed: false })),
    packs: 1,
    problems: [],
  });
});

test("`catalog` without a folder exits with 2", async () => {
  const { stderr, exitCode } = await runMain(["catalog"], { cwd: makeProject() });
  expect(stderr).toContain("`catalog` requires a folder");
  expect(exitCode).toBe(2);
});

test("`catalog` shows a broken pack, and exits with 1", async () => {
  const cwd = makeProject({
    "node_modules/desk/package.json": packManifest("desk", { trailblaze: { tools: ["gone"] } }),
  });
  const { stderr, exitCode } = await runMain(["catalog", "--out", "site"], { cwd });
  expect(stderr).toContain("error MissingRootDirectory");
  expect(exitCode).toBe(1);
  expect(readFileSync(join(cwd, "site/index.html"), "utf8")).toContain("MissingRootDirectory");
});

test.skipIf(process.platform !== "linux")(
  "`catalog --open` opens the index, or says that nothing did",
  async () => {
    const cwd = makeProject({ "bin/xdg-open": '#!/bin/sh\nprintf %s "$1" > "$OPENED"\n' });
    chmodSync(join(cwd, "bin/xdg-open"), 0o755);
    const opened = join(cwd, "opened");
    const args = ["catalog", "--out", "site", "--open", "--json"];
    const env = { PATH: `${join(cwd, "bin")}:${process.env.PATH}`, OPENED: opened };
    expect(JSON.parse((await runMain(args, { cwd, env })).stdout)).toMatchObject({ opened: true });
    await waitUntil(
      () =>
        existsSync(opened) &&
        readFileSync(opened, "utf8") === pathToFileURL(join(cwd, "site/index.html")).href,
    );
    const without = await runMain(args.slice(0, -1), { cwd, env: { PATH: join(cwd, "nowhere") } });
    expect(without).toMatchObject({ stdout: expect.stringContaining("No program opened it."), exitCode: 0 });
  },
);
