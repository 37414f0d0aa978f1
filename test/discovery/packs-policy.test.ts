import { describe, expect, test } from "vitest";
import { discoverPacks } from "../../src/index.ts";
import { makeTree, packManifest } from "../support/packs.ts";

const tools = (...names: string[]) => ({ trailblaze: { tools: names } });

/** One pack of every origin that matters, and the names of those that a session would take. */
async function enabledWith(packs: unknown): Promise<string[]> {
  const root = makeTree({
    "package.json": {
      ...packManifest("@me/app", tools("own")),
      workspaces: ["packages/*"],
      dependencies: { "@acme/jira": "*", "@acme/jira-cloud": "*", notes: "*" },
    },
    "packages/lib/package.json": packManifest("@me/lib", tools("shared")),
    "node_modules/@acme/jira/package.json": packManifest("@acme/jira", tools("createIssue", "getIssue")),
    "node_modules/@acme/jira-cloud/package.json": packManifest("@acme/jira-cloud", tools("sync")),
    "node_modules/notes/package.json": packManifest("notes", tools("createNote")),
    "node_modules/@acme/shop/package.json": packManifest("@acme/shop", tools("buy", "refund")),
    "node_modules/stray/package.json": packManifest("stray"),
    ...(packs === undefined ? {} : { "trailblaze.config.json": { packs } }),
  });
  const { packs: found } = await discoverPacks({ cwd: root, all: true });
  expect(found).toHaveLength(7);
  return found.filter(({ enabled }) => enabled === true).map(({ qualifiedName }) => qualifiedName);
}

const direct = ["acme/jira", "acme/jira-cloud", "notes"];
const own = ["me/app", "me/lib"];
const everything = [...direct.slice(0, 2), ...own, "notes"];

describe("packs that a session would use", () => {
  test("without a rule, a session uses packs that are self, workspace or direct", async () => {
    expect(await enabledWith(undefined)).toEqual(everything);
  });

  test.each([
    [[], []],
    [["acme/*"], ["acme/jira", "acme/jira-cloud"]],
    [["acme/ji.a", "acme/.*", "note.", ".*/.*"], []],
    [["acme/jira/createIssue"], ["acme/jira"]],
    [["acme/jira/nothing"], []],
    [["*/*/sync"], ["acme/jira-cloud"]],
  ])("`allow: %j` selects only %j", async (allow, enabled) => {
    expect(await enabledWith({ allow })).toEqual(enabled);
  });

  test.each([
    [["*"], [...direct.slice(0, 2), ...own]],
    [["acme/jira/createIssue"], everything],
    [
      ["acme/jira/createIssue", "acme/jira/getIssue"],
      ["acme/jira-cloud", ...own, "notes"],
    ],
  ])("`deny: %j` leaves %j", async (deny, enabled) => {
    expect(await enabledWith({ deny })).toEqual(enabled);
  });

  test.each([
    [["acme/jira"], ["acme/jira/createIssue"], ["acme/jira"]],
    [["acme/jira/createIssue"], ["acme/jira/getIssue"], ["acme/jira"]],
  ])("`allow: %j` and `deny: %j` select %j, because deny wins", async (allow, deny, enabled) => {
    expect(await enabledWith({ allow, deny })).toEqual(enabled);
  });

  test.each([
    [{ transitive: ["acme/shop"] }, ["acme/shop"]],
    [{ transitive: ["acme/shop/buy"] }, ["acme/shop"]],
    [{ transitive: ["acme/shop"], deny: ["acme/shop"] }, []],
    [{ transitive: ["acme/shop/buy"], allow: ["acme/shop/refund", "acme/j*", "me/*", "notes"] }, []],
  ])("%j selects these transitive packs: %j", async (packs, enabled) => {
    const taken = await enabledWith(packs);
    expect(taken.filter((name) => name === "acme/shop" || name === "stray")).toEqual(enabled);
  });

  test("matching hostile patterns finishes", async () => {
    await enabledWith({ deny: [`acme/${"*a".repeat(5000)}`, `acme/${"*".repeat(50_000)}b`] });
  });
});

test.each([
  ["a field that is no object", { trailblaze: ["createIssue"] }, "MalformedExtension"],
  ["another host", { engines: { trailblaze: "^99.0.0" }, ...tools("a") }, "HostVersionUnsupported"],
])(
  "because of %s, a pack is listed but not enabled, even if the config allows it",
  async (_, fields, code) => {
    const root = makeTree({
      "package.json": { name: "app", dependencies: { jira: "*" } },
      "node_modules/jira/package.json": packManifest("jira", fields),
      "trailblaze.config.yaml": "packs: { allow: [jira], transitive: [jira] }\n",
    });
    const { packs } = await discoverPacks({ cwd: root });
    expect(packs).toEqual([expect.objectContaining({ name: "jira", enabled: false })]);
    expect(packs[0]?.problems.map((problem) => problem.code)).toEqual([code]);
  },
);

describe("engines.trailblaze", () => {
  const list = async (engines: unknown) => {
    const root = makeTree({ "package.json": packManifest("app", { engines, ...tools("a") }) });
    return (await discoverPacks({ cwd: root })).packs[0];
  };

  test.each([[undefined], [{ trailblaze: ">=0.5 <2" }]])(
    "a pack for %j is enabled on this host",
    async (engines) => {
      expect(await list(engines)).toMatchObject({ enabled: true, problems: [] });
    },
  );

  test("a pack for another host is listed with its items but not enabled, and the problem has its place", async () => {
    const pack = await list({ trailblaze: "latest" });
    expect(pack).toMatchObject({ enabled: false, tools: [{ name: "a" }] });
    const place = { pack: "app", file: "package.json", line: expect.any(Number), column: expect.any(Number) };
    expect(pack?.problems).toMatchObject([{ code: "HostVersionUnsupported", severity: "warning", ...place }]);
  });
});
