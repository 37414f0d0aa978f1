import { cpSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import { addPacks } from "../../src/npm/add-packs.ts";
import { removePacks } from "../../src/npm/remove-packs.ts";
import { makeProject, readState, useManagers } from "../npm/changeable-project.ts";
import { packageManagers } from "../support/package-managers.ts";
import { makeTree } from "../support/packs.ts";
import { canMountDisks, fillDisk, mountSmallDisk } from "../support/small-disk.ts";

const consent = () => true;

describe.skipIf(!canMountDisks).each(packageManagers)("a full disk, with %s", (manager) => {
  async function makeFullProject(spare: number) {
    const registry = inject("registry");
    useManagers(registry);
    const made = await makeProject(manager, { registry, dependencies: { "hello-tools": "*" } });
    const cwd = join(makeTree({}), "project");
    mountSmallDisk(cwd, 16_384);
    cpSync(made, cwd, { recursive: true, verbatimSymlinks: true });
    fillDisk(cwd, spare);
    return { cwd, state: () => ({ ...readState(cwd), installed: [] }) };
  }

  test("on a full disk, add changes nothing if it cannot back up the project's files", async () => {
    const { cwd, state } = await makeFullProject(0);
    const before = state();
    await expect(addPacks(["@acme/jira"], { cwd, consent })).rejects.toMatchObject({
      code: "InstallFailed",
      problem: { args: expect.not.objectContaining({ restored: expect.anything() }) },
    });
    expect(state()).toEqual(before);
  });

  test("on a full disk, add and remove restore the project's files", async () => {
    const { cwd, state } = await makeFullProject(20_480);
    const before = state();
    const addition = addPacks(["@acme/jira", "@acme/shop", "@globex/release-desk"], { cwd, consent });
    await expect(addition).rejects.toMatchObject({ code: "InstallFailed" });
    expect(state()).toEqual(before);
    rmSync(join(cwd, "filler"));
    fillDisk(cwd, 4096);
    const isRemoved = await removePacks(["hello-tools"], { cwd }).then(
      () => true,
      () => false,
    );
    const { dependencies } = JSON.parse(readFileSync(join(cwd, "package.json"), "utf8"));
    if (isRemoved) expect(dependencies ?? {}).not.toHaveProperty("hello-tools");
    else expect(state().files).toEqual(before.files);
    expect(readdirSync(cwd).filter((name) => name.includes("trailblaze-"))).toEqual([]);
  });
});
