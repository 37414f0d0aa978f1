import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { discoverPacks } from "../../src/index.ts";
import { describeOrigins } from "../support/listing.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { makeLink } from "../support/special-files.ts";

const workspaceFields: readonly (readonly [string, Record<string, unknown>, Record<string, unknown>])[] = [
  ["npm's list", { workspaces: ["packages/*"] }, {}],
  ["Yarn's map", { workspaces: { packages: ["packages/*"], nohoist: [] } }, {}],
  ["pnpm's file", {}, { "pnpm-workspace.yaml": "packages:\n  - 'packages/*'\n" }],
  ["a pattern and an exception", { workspaces: ["packages/*", "others/*", "!others/ghost"] }, {}],
];

describe.each(workspaceFields)("a workspace declared by %s", (_, fields, files) => {
  function makeWorkspace(): string {
    const root = makeTree({
      "package.json": packManifest("root", { dependencies: { "@acme/jira": "*" }, ...fields }),
      "packages/app/package.json": { name: "app", dependencies: { lib: "*", notes: "*" } },
      "packages/lib/package.json": packManifest("lib", { dependencies: { notes: "*" } }),
      "packages/desk/package.json": packManifest("desk"),
      "packages/desk/node_modules/only-desk/package.json": packManifest("only-desk"),
      "packages/no-package/readme.txt": "",
      "others/ghost/package.json": packManifest("ghost"),
      "node_modules/@acme/jira/package.json": packManifest("@acme/jira"),
      "node_modules/notes/package.json": packManifest("notes"),
      ...files,
    });
    for (const member of ["app", "lib", "desk"])
      makeLink(`../packages/${member}`, join(root, "node_modules", member));
    return root;
  }

  const fromMember = {
    "@acme/jira": "direct enabled",
    desk: "workspace enabled",
    lib: "workspace enabled",
    notes: "direct enabled",
    "only-desk": "undeclared on demand",
    root: "workspace enabled",
  };

  test.each([
    ["the root", "", { ...fromMember, notes: "transitive on demand", root: "self enabled" }],
    ["a member, whose dependencies and those of the root are direct", "packages/app", fromMember],
    ["a member that is a pack", "packages/lib", { ...fromMember, lib: "self enabled" }],
  ])("the packs of a workspace are listed from %s", async (_what, folder, expected) => {
    const root = makeWorkspace();
    const { project, packs, problems } = await discoverPacks({ cwd: join(root, folder), all: true });
    expect(project).toBe(join(root, folder));
    expect(describeOrigins(packs)).toEqual(
      Object.entries(expected).map(([name, use]) => `${name}@1.0.0 ${use}`),
    );
    expect(packs.find(({ name }) => name === "lib")?.location).toBe(join(root, "packages/lib"));
    expect(problems).toEqual([]);
  });
});

describe("the borders of a workspace", () => {
  test("a project below a workspace's root that no pattern covers stands alone", async () => {
    const root = makeTree({
      "package.json": packManifest("root", { workspaces: ["packages/*"] }),
      "packages/lib/package.json": packManifest("lib"),
      "examples/app/package.json": { name: "app" },
      "node_modules/notes/package.json": packManifest("notes"),
    });
    const { project, packs } = await discoverPacks({ cwd: join(root, "examples/app"), all: true });
    expect(project).toBe(join(root, "examples/app"));
    expect(packs).toEqual([]);
  });

  describe("links to members", () => {
    const workspaces = ["packages/*", "linked/*"];
    test.each([
      ["a member", "packages/lib", "self"],
      ["a link to a member", "linked/lib", "self"],
    ])("a member with links is listed once, at its real location, from %s", async (_from, folder, origin) => {
      const root = makeTree({
        "package.json": { name: "root", workspaces },
        "packages/lib/package.json": packManifest("lib"),
        "elsewhere/desk/package.json": packManifest("desk"),
        "node_modules/notes/package.json": packManifest("notes"),
      });
      makeLink("../packages/lib", join(root, "node_modules/lib"));
      makeLink("lib", join(root, "packages/same"));
      makeLink("../packages/lib", join(root, "linked/lib"));
      makeLink("../elsewhere/desk", join(root, "linked/desk"));
      makeLink("../elsewhere/desk", join(root, "packages/desk"));
      makeLink("..", join(root, "linked/root"));
      const { packs, problems } = await discoverPacks({ cwd: join(root, folder), all: true });
      expect(describeOrigins(packs)).toEqual([
        "desk@1.0.0 workspace enabled",
        `lib@1.0.0 ${origin} enabled`,
        "notes@1.0.0 undeclared on demand",
      ]);
      const locations = packs.map(({ location }) => location);
      expect(locations.slice(0, 2)).toEqual([join(root, "elsewhere/desk"), join(root, "packages/lib")]);
      expect(problems).toEqual([]);
    });
  });
});
