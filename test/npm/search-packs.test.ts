import { existsSync, readdirSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { searchPacks } from "../../src/remote.ts";
import { makeTree } from "../support/packs.ts";
import { textIn } from "../support/tree.ts";
import { remoteManifest, type StandInOptions, startStandIn } from "./stand-in-registry.ts";
import { useHome } from "./user-home.ts";

const namesOf = ({ packs }: { packs: readonly { name: string }[] }) => packs.map(({ name }) => name);

/** Answers each request for search results with these, and others with 404. */
const answerSearches =
  (createResults: () => readonly unknown[]): StandInOptions["intercept"] =>
  ({ path }, response) => {
    if (path !== "/-/v1/search") return response.writeHead(404).end("{}") !== undefined;
    return response.end(JSON.stringify({ objects: createResults(), total: 9e9 })) !== undefined;
  };
const keywords = ["trailblaze-extension"];

/** A registry that a home of the test's own is configured for, and a folder without a project. */
async function setUp(options: StandInOptions, npmrc: readonly string[] = []) {
  const registry = await startStandIn(options);
  // As in a configuration of npm that retries early.
  const home = useHome([`registry=${registry.url}`, "fetch-retry-mintimeout=20", ...npmrc]);
  return { registry, home, cwd: makeTree({}) };
}

const packs = [
  remoteManifest("zebra-tools", { description: "Stripes for jira." }),
  remoteManifest("@acme/jira", {
    trailblaze: {
      servers: [{ name: "desk", description: "A desk", tools: ["createIssue"] }],
      tools: [["createIssue", "Create an issue"], { name: "getIssue", parameters: ["issueKey"], "x-own": 1 }],
      toolsets: ["triage"],
      prompts: ["issueText"],
      resources: [{ name: "board", uri: "jira://board", mimeType: "text/plain", "x-own": 1 }],
    },
  }),
  remoteManifest("no-field", { trailblaze: undefined }),
  remoteManifest("no-keyword-jira", { keywords: ["mcp"] }),
];

describe("a search", () => {
  test("a search finds packages with the keyword and the field, and shows what they declare", async () => {
    const { registry, cwd } = await setUp({ manifests: packs });
    const found = await searchPacks("", { cwd });
    expect(namesOf(found)).toEqual(["@acme/jira", "zebra-tools"]);
    expect(found).toMatchObject({ total: 2, source: "network", problems: [] });
    expect(found.packs[0]).toMatchObject({
      qualifiedName: "acme/jira",
      version: "1.2.3",
      description: "The pack @acme/jira.",
      servers: [{ qualifiedName: "acme/jira/desk", description: "A desk", tools: ["createIssue"] }],
      tools: [{ name: "createIssue", description: "Create an issue" }, { parameters: ["issueKey"] }],
      toolsets: [{ name: "triage", description: null }],
      prompts: [{ name: "issueText" }],
      resources: [{ name: "board", uri: "jira://board", mimeType: "text/plain" }],
      installed: false,
      problems: [],
    });
    expect(JSON.stringify(found)).not.toContain("x-own");
    const [first] = registry.seen;
    expect(first?.query.get("text")).toBe("keywords:trailblaze-extension");
    expect(registry.paths()).toContain("/@acme%2Fjira/latest");
    // Words keep the registry's order.
    expect(namesOf(await searchPacks(" jira ", { cwd }))).toEqual(["zebra-tools", "@acme/jira"]);
    expect(namesOf(await searchPacks("stripes", { cwd }))).toEqual([]);
  });

  test("a registry that refuses a short text without a keyword finds nothing, and that is no failure", async () => {
    const { cwd } = await setUp({
      intercept: ({ query }, response) =>
        (query.get("text") ?? "").length < 2 && response.writeHead(400).end("{}") !== undefined,
    });
    for (const text of ["", "x"])
      expect(await searchPacks(text, { cwd })).toMatchObject({ total: 0, problems: [] });
  });

  test("a search marks installed packs, whatever the config says", async () => {
    await setUp({ manifests: packs });
    const cwd = makeTree({
      "package.json": { name: "app" },
      "trailblaze.config.yaml": "packs: { deny: nonsense }",
      "node_modules/@acme/jira/package.json": { name: "@acme/jira", version: "1.0.0", trailblaze: {} },
    });
    const found = await searchPacks("", { cwd });
    expect(found.packs.map(({ name, installed }) => [name, installed])).toEqual([
      ["@acme/jira", true],
      ["zebra-tools", false],
    ]);
  });
});

describe("search result pages", () => {
  const searches = (paths: readonly string[]) => paths.filter((path) => path === "/-/v1/search").length;

  test("at most ten search result pages are requested", async () => {
    let page = 0;
    const { registry, cwd } = await setUp({
      intercept: answerSearches(() => [{ package: { name: `p-${page++}`, keywords } }]),
    });
    await searchPacks("pack", { cwd });
    expect(searches(registry.paths())).toBe(10);
  });
});

describe("a registry that sends false data", () => {
  test("false names, versions and shapes from a registry do not hide other packs", async () => {
    const { cwd } = await setUp({
      manifests: [
        remoteManifest("honest"),
        ...["liar", "list", "number-name", "field"].map((name) => remoteManifest(name)),
      ],
      intercept({ path }, response) {
        const lies: Record<string, unknown> = {
          "/liar/latest": remoteManifest("@acme/somebody-else"),
          "/list/latest": [1, 2],
          "/number-name/latest": remoteManifest("x", { name: 7 }),
          "/field/latest": remoteManifest("field", { version: 7, description: [], trailblaze: { tools: 3 } }),
        };
        if (!Object.hasOwn(lies, path)) return false;
        response.end(JSON.stringify(lies[path]));
        return true;
      },
    });
    const found = await searchPacks("", { cwd });
    expect(namesOf(found)).toEqual(["field", "honest"]);
    expect(found.packs[0]).toMatchObject({ version: null, description: null, tools: [] });
    expect(found.packs[0]?.problems).toMatchObject([{ code: "MalformedExtension", pack: "field" }]);
  });

  test.each(["../../secret", "a/b/c", "-rf"])(
    "a search result called %j is never requested by that name",
    async (name) => {
      const { registry, cwd } = await setUp({
        intercept: answerSearches(() => [null, 3, {}, { package: { name, keywords } }]),
      });
      expect((await searchPacks("x", { cwd })).packs).toEqual([]);
      expect(new Set(registry.paths())).toEqual(new Set(["/-/v1/search"]));
    },
  );

  test("a registry's results are ignored for packages that another registry serves", async () => {
    const own = await startStandIn({ manifests: [remoteManifest("@acme/jira", { version: "1.0.0" })] });
    const { registry, cwd } = await setUp(
      { manifests: [remoteManifest("@acme/jira", { version: "9.9.9" }), remoteManifest("open")] },
      [`@acme:registry=${own.url}`],
    );
    own.options.manifests = [...(own.options.manifests ?? []), remoteManifest("open", { version: "6.6.6" })];
    const found = await searchPacks("", { cwd });
    expect(found.packs.map(({ name, version }) => `${name}@${version}`)).toEqual([
      "@acme/jira@1.0.0",
      "open@1.2.3",
    ]);
    expect(registry.paths()).not.toContain("/@acme%2Fjira/latest");
  });
});

describe("the search cache", () => {
  test("the cache, in the user's folder, answers for as long as a registry says, unless it is refreshed", async () => {
    const { registry, home } = await setUp({
      manifests: packs,
      intercept(_request, response) {
        response.setHeader("cache-control", "public, max-age=300");
        return false;
      },
    });
    const cwd = makeTree({ "package.json": { name: "app" } });
    await searchPacks("", { cwd });
    expect(readdirSync(cwd)).toEqual(["package.json"]);
    expect(existsSync(join(home, "cache", "trailblaze", "registry"))).toBe(true);
    registry.options.manifests = [remoteManifest("zebra-tools", { version: "2.0.0" })];
    const before = registry.seen.length;
    const versions = async (refresh: boolean) =>
      (await searchPacks("", { cwd, refresh })).packs.map(({ version }) => version);
    expect(await versions(false)).toEqual(["1.2.3", "1.2.3"]);
    expect(registry.seen.length).toBe(before);
    expect(await versions(true)).toEqual(["2.0.0"]);
  });

  test.each([false, true])(
    "cached results are returned with a warning if the registry is unreachable or not asked (offline: %s)",
    async (offline) => {
      const { registry, cwd } = await setUp({ manifests: packs });
      const first = await searchPacks("jira", { cwd });
      if (!offline) await registry.close();
      const asked = registry.seen.length;
      const second = await searchPacks("jira", { cwd, offline });
      expect(second.packs).toEqual(first.packs);
      expect(second.source).toBe("cache");
      expect(second.problems).toMatchObject([{ code: "RegistryUnavailable", severity: "warning" }]);
      expect(registry.seen.length).toBe(asked);
      await expect(searchPacks("never asked", { cwd, offline })).rejects.toMatchObject({
        code: "RegistryUnavailable",
        problem: { severity: "error" },
      });
    },
  );
});

describe("a registry that fails or is slow", () => {
  test("a registry that keeps sending 429 is asked no more", async () => {
    const { registry, cwd } = await setUp({
      manifests: packs,
      intercept({ path }, response) {
        if (path === "/-/v1/search") return false;
        response.writeHead(429).end();
        return true;
      },
    });
    const found = await searchPacks("zebra", { cwd });
    expect(found.packs).toEqual([]);
    const args = { reason: expect.stringContaining("429"), answered: true };
    expect(found.problems).toMatchObject([{ code: "RegistryUnavailable", severity: "warning", args }]);
    expect(registry.paths().filter((path) => path.endsWith("/latest")).length).toBe(3);
  });

  test("a request times out if the registry does not answer, and cached results are used", async () => {
    const { registry, cwd } = await setUp({ manifests: packs });
    await searchPacks("", { cwd });
    registry.options.intercept = () => true;
    const found = await searchPacks("", { cwd, timeoutMs: 300 });
    expect(found.source).toBe("cache");
    expect(found.total).toBe(2);
    const args = { reason: expect.stringContaining("in time"), answered: true };
    expect(found.problems).toMatchObject([{ code: "RegistryUnavailable", args }]);
  });

  test.each<[what: string, reason: string, send: (response: ServerResponse) => unknown]>([
    ["HTML", "JSON", (response) => response.end("<html>")],
    ["status 403", "access", (response) => response.writeHead(403).end("secret")],
    [
      "a demand for a one-time password",
      "credentials",
      (response) => response.writeHead(401).end("one-time pass"),
    ],
    [
      "a body that breaks off",
      "",
      (response) => {
        response.writeHead(200, { "content-length": 4000 });
        response.write("{", () => response.destroy());
      },
    ],
    [
      "a redirect to a file",
      "",
      (response) => response.writeHead(302, { location: "file:///etc/hosts" }).end(),
    ],
  ])("a registry that answers with %s is reported as RegistryUnavailable", async (_what, reason, send) => {
    const { cwd } = await setUp({ intercept: (_request, response) => send(response) !== null });
    await expect(searchPacks("x", { cwd })).rejects.toMatchObject({
      code: "RegistryUnavailable",
      problem: { args: { reason: expect.stringContaining(reason) } },
    });
  });
});

describe("credentials", () => {
  const withToken = (token: string): StandInOptions => ({
    manifests: packs,
    intercept({ headers }, response) {
      if (headers.authorization === `Bearer ${token}`) return false;
      response.writeHead(401).end(`no such token: ${headers.authorization}`);
      return true;
    },
  });

  test("credentials in a project's .npmrc are not sent to a registry that only the project names", async () => {
    const { registry } = await setUp(withToken("s3cret"));
    useHome([]);
    vi.stubEnv("TRAILBLAZE_TEST_TOKEN", "s3cret");
    const line = `//${new URL(registry.url).host}/:_authToken=\${TRAILBLAZE_TEST_TOKEN}`;
    const project = { "package.json": { name: "app" }, ".npmrc": `registry=${registry.url}\n${line}\n` };
    const cwd = makeTree(project);
    const search = searchPacks("", { cwd });
    await expect(search).rejects.toMatchObject({
      code: "RegistryUnavailable",
      problem: { args: { withheld: [line] }, hint: expect.stringContaining(line) },
    });
    registry.options.intercept = () => false;
    const found = await searchPacks("", { cwd });
    expect(found).toMatchObject({
      total: 2,
      problems: [{ severity: "warning", args: { withheld: [line] } }],
    });
    expect(JSON.stringify(registry.seen)).not.toContain("s3cret");
  });

  test("errors contain neither rejected credentials nor those in a URL", async () => {
    const { registry, cwd, home } = await setUp(withToken("s3cret"));
    const host = new URL(registry.url).host;
    writeFileSync(
      join(home, ".npmrc"),
      `registry=http://user:passw0rd@${host}/\n//${host}/:_authToken=wr0ng\n`,
    );
    const error = await searchPacks("", { cwd }).catch((one: unknown) => one);
    expect(error).toMatchObject({ code: "RegistryUnavailable" });
    const { problem, message, stack, cause } = error as Error & { problem: unknown };
    const told = JSON.stringify({ problem, message, stack, cause });
    expect(told).toContain("credentials");
    for (const secret of ["wr0ng", "passw0rd", "s3cret"]) expect(told).not.toContain(secret);
  });

  test("credentials, with variables expanded, are sent to their registry, but not to another host after a redirect", async () => {
    const { registry, cwd, home } = await setUp({ manifests: packs });
    const elsewhere = await startStandIn({ manifests: packs });
    const { host, port } = new URL(elsewhere.url);
    registry.options.intercept = ({ path, query }, response) => {
      const location = `http://localhost:${port}${path}?${query}`;
      response.writeHead(302, { location }).end();
      return true;
    };
    vi.stubEnv("TRAILBLAZE_TEST_TOKEN", "s3cret");
    const own = new URL(registry.url).host;
    const line = `//${own}/:_authToken=\${TRAILBLAZE_TEST_TOKEN}`;
    writeFileSync(join(home, ".npmrc"), `registry=${registry.url}\n${line}\n`);
    await searchPacks("", { cwd }).catch(() => {});
    expect(registry.seen[0]?.headers.authorization).toBe("Bearer s3cret");
    for (const { headers } of elsewhere.seen) expect(headers.authorization).toBeUndefined();
    expect(host).not.toBe(own);
  });

  test("the cache has no credentials, whatever a registry lets responses vary by", async () => {
    const { registry, cwd, home } = await setUp({
      manifests: packs,
      intercept(_request, response) {
        response.setHeader("vary", "accept, authorization");
        return false;
      },
    });
    const { host } = new URL(registry.url);
    const cache = join(home, "cache");
    writeFileSync(join(home, ".npmrc"), `registry=${registry.url}\n//${host}/:_authToken=s3cret\n`);
    expect((await searchPacks("", { cwd })).total).toBe(2);
    expect(registry.seen.at(-1)?.headers.authorization).toBe("Bearer s3cret");
    expect(textIn(cache)).toContain("zebra-tools");
    writeFileSync(join(home, ".npmrc"), `registry=http://user:passw0rd@${host}/\n`);
    expect((await searchPacks("", { cwd })).total).toBe(2);
    expect(registry.seen.at(-1)?.headers.authorization).toMatch(/^Basic /);
    for (const secret of ["s3cret", "passw0rd"]) expect(textIn(cache)).not.toContain(secret);
  });
});
