import { describe, expect, test } from "vitest";
import type { ServerProtocol } from "../../../src/mcp/client/json-rpc.ts";
import { firstText } from "../../support/first-text.ts";
import { inRepository } from "../../support/repository.ts";
import { capabilitiesKey, clientKey, revision, revisionKey, serverKey } from "../modern/modern-served.ts";
import { call, problemOf, reasonOf, type Started, startFixture } from "./start-fixture.ts";

const line = (content: object) => `${JSON.stringify({ jsonrpc: "2.0", id: "ID", ...content })}\n`;
const fail = (code: number, data?: unknown) => line({ error: { code, message: "refused", data } });
const refuseVersion = fail(-32022, { supported: [revision], requested: "2025-11-25" });
const discovered = {
  resultType: "complete",
  supportedVersions: [revision],
  capabilities: { tools: {} },
  _meta: { [serverKey]: { name: "modern", version: "2.0.0" } },
};
const discovery = line({ result: discovered });

/** Answers of a server that refuses `initialize` and is modern. */
const modernAnswers = { initialize: refuseVersion, "server/discover": discovery };

const launched = (protocol: ServerProtocol, options: object, handshakeMs = 20_000) =>
  [options, { launch: { protocol, timeouts: { handshakeMs, listMs: 20_000 } } }] as const;
const start = (...given: Parameters<typeof launched>) => startFixture(...launched(...given));
const failing = async (...given: Parameters<typeof launched>) =>
  reasonOf(await problemOf(...launched(...given)));

/** The messages that the fixture has received, with the call that asks for them. */
async function receivedBy(server: Started) {
  const { content } = await server.call("tools/call", call("received", {}, { trailblaze: { a: 1 } }));
  return JSON.parse(String(firstText({ content }))) as { method: string; params: Record<string, unknown> }[];
}

const methodsOf = async (server: Started) => (await receivedBy(server)).map(({ method }) => method);

describe("the handshake with a server", () => {
  test("a legacy server gets `initialize` and nothing of the modern era", async () => {
    const server = await start("auto", {}).ready;
    expect(server).toMatchObject({
      era: "legacy",
      protocolVersion: "2025-11-25",
      serverInfo: { name: "fixture", version: "1.2.3" },
    });
    const received = await receivedBy(server);
    expect(received.map(({ method }) => method)).toEqual([
      ...["initialize", "notifications/initialized", "tools/list", "tools/call"],
    ]);
    expect(received[0]?.params).toMatchObject({ protocolVersion: "2025-11-25", capabilities: {} });
    expect(received.at(-1)?.params._meta).toEqual({ trailblaze: { a: 1 } });
  });

  test.each([
    ["-32601", fail(-32601)],
    ["-32020, which legacy revisions do not have", fail(-32020)],
    ["an error that lists a modern revision", fail(-32602, { supported: ["1999-01-01", "2027-01-01"] })],
  ])("a server that answers `initialize` with %s is modern in the same process", async (_, initialize) => {
    const server = await start("auto", { answers: { ...modernAnswers, initialize } }).ready;
    expect(server).toMatchObject({
      era: "modern",
      protocolVersion: revision,
      serverInfo: { name: "modern", version: "2.0.0" },
    });
    expect(server.tools.map(({ name }) => name)).toContain("echo");
    expect(await methodsOf(server)).toEqual(["initialize", "server/discover", "tools/list", "tools/call"]);
  });

  test.each([
    ["another error", fail(-32603)],
    ["an error that lists only legacy revisions", fail(-32602, { supported: ["2024-11-05"] })],
  ])("a server that answers `initialize` with %s does not start", async (_, initialize) => {
    expect(await failing("auto", { answers: { ...modernAnswers, initialize } })).toMatch(
      /error -3260[23]: refused/,
    );
  });

  test.each([
    ["auto", "initialize"],
    ["auto", "server/discover"],
    ["modern", "server/discover"],
  ] as const)(
    "a server with the protocol `%s` that does not answer `%s` fails within the timeout of the whole handshake",
    async (protocol, silent) => {
      const options = { silent: [silent], answers: modernAnswers };
      // A slow start may use up the time before the server refuses `initialize`.
      expect(await failing(protocol, options, 300)).toMatch(/`(?:initialize|server\/discover)`.* 300 ms/);
    },
  );
});

describe("a server with a fixed protocol", () => {
  test("a modern server never falls back to `initialize`", async () => {
    const answers = { "server/discover": fail(-32601) };
    expect(await failing("modern", { answers })).toContain("-32601");
  });

  test("a legacy server never gets `server/discover`", async () => {
    expect(await failing("legacy", { answers: modernAnswers })).toContain("-32022");
  });
});

const answerWith = (result: unknown) => ({
  answers: { ...modernAnswers, "server/discover": line({ result }) },
});

test.each([
  ["an empty object", {}, "supportedVersions"],
  ["only other versions", { ...discovered, supportedVersions: ["2099-01-01"] }, "2099-01-01"],
  ["an unknown result type", { ...discovered, resultType: "later" }, '"later"'],
])("a server that answers with %s does not start, with an explanation", async (_, result, words) => {
  expect(await failing("auto", answerWith(result))).toContain(words);
});

describe("calls to a modern server", () => {
  test("every request carries the revision, the client and its capabilities", async () => {
    const server = await start("auto", { answers: modernAnswers }).ready;
    const [initialize, ...requests] = await receivedBy(server);
    const envelope = {
      [revisionKey]: revision,
      [clientKey]: { name: "trailblaze", version: expect.any(String) },
      [capabilitiesKey]: {},
    };
    expect(requests.map(({ params }) => params._meta)).toEqual([
      envelope,
      envelope,
      { ...envelope, trailblaze: { a: 1 } },
    ]);
    expect(initialize?.params._meta).toBeUndefined();
  });

  test("`structuredContent` of either era's server may be any JSON, and null is absent", async () => {
    const modern = await start("modern", { answers: modernAnswers }).ready;
    const legacy = await start("legacy", {}).ready;
    for (const structuredContent of [[1, 2], "text", 0, false, null]) {
      const wanted = call("result", { result: { content: [], structuredContent } });
      const expected = { content: [], structuredContent: structuredContent ?? undefined };
      expect(await modern.call("tools/call", wanted)).toEqual(expected);
      expect(await legacy.call("tools/call", wanted)).toEqual(expected);
    }
  });
});

test.each([
  [{ a: { method: "tools/list" } }, /of "a", \/method must be one of/],
  [{ a: 1 }, /of "a", `method` is missing/],
  [{ a: { method: "elicitation/create" } }, /of "a", `message` is missing/],
])("a modern server that asks %j fails the call, with an explanation", async (inputRequests, words) => {
  const server = await start("modern", { answers: modernAnswers }).ready;
  const wanted = call("result", { result: { resultType: "input_required", inputRequests } });
  await expect(server.call("tools/call", wanted)).rejects.toThrow(words);
});

const listing = (capabilities: object) => ({
  answers: { ...modernAnswers, "server/discover": line({ result: { ...discovered, capabilities } }) },
  silent: ["subscriptions/listen"],
});
const change = { message: { jsonrpc: "2.0", method: "notifications/tools/list_changed" } };

test("a server whose list can change is asked to tell, before its tools are listed", async () => {
  const server = startFixture(listing({ tools: { listChanged: true } }), {
    launch: { protocol: "modern" },
  });
  const ready = await server.ready;
  const received = await receivedBy(ready);
  expect(received.map(({ method }) => method)).toEqual([
    ...["server/discover", "subscriptions/listen", "tools/list", "tools/call"],
  ]);
  expect(received[1]?.params).toMatchObject({ notifications: { toolsListChanged: true } });
  await ready.call("tools/call", call("stray", change));
  expect(server.reports.listChanges).toEqual(["tools"]);
});

test.each(["legacy", "modern"] as const)(
  "a %s server gets an argument named `__proto__` as an own key",
  async (protocol) => {
    const server = await start(protocol, { answers: protocol === "modern" ? modernAnswers : {} }).ready;
    const args = JSON.parse('{ "__proto__": { "a": 1 } }');
    const { content } = await server.call("tools/call", call("echo", args));
    expect(firstText({ content })).toBe('{"__proto__":{"a":1}}');
  },
);

const [v1, v2] = ["sdk-server.mjs", "modern-sdk-server.mjs"].map((name) =>
  inRepository(`bench/support/${name}`),
) as [string, string];

test.each([
  ["version 1", "auto", [v1], "legacy"],
  ["version 2", "auto", [v2], "legacy"],
  ["version 2", "modern", [v2], "modern"],
  ["version 2 that rejects legacy clients", "auto", [v2, "echo", "reject"], "modern"],
] as const)("a server of %s is called with the protocol `%s`", async (_, protocol, args, era) => {
  const server = await startFixture({}, { launch: { args, protocol } }).ready;
  expect(server).toMatchObject({ era, serverInfo: { name: "echo", version: "1.0.0" } });
  expect(server.tools.map(({ name }) => name)).toEqual(["echo"]);
  const result = await server.call("tools/call", call("echo", { text: "both" }));
  expect(result.content).toEqual([{ type: "text", text: "both" }]);
  await expect(server.call("tools/call", call("echo", { text: 5 }))).rejects.toThrow();
});
