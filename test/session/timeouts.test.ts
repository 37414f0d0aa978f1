import { expect, test } from "vitest";
import { formatWaiting } from "../../src/session/session-options.ts";
import { makeProject, openForTest, probe, probeDefinition, withServers } from "./support/session.ts";

test("the limit of a call is the call's, else its server's, else the config's, and -1 is none", async () => {
  const definition = { ...probeDefinition({ PROBE_PREFIX: "packed" }), timeouts: { callMs: 200 } };
  const cwd = makeProject({
    "@acme/p": {
      "package.json": { trailblaze: { servers: ["s"] } },
      "trailblaze/servers/s.json": definition,
    },
  });
  const own = { ...probe("own"), timeouts: { callMs: 250, listMs: -1 } };
  const free = { ...probe("free"), timeouts: { callMs: -1 } };
  const timeouts = { callMs: 300, handshakeMs: -1 };
  const session = await openForTest(cwd, { config: { ...withServers(own, free, probe("plain")), timeouts } });
  const hang = async (name: string, timeoutMs?: number) =>
    (await session.callTool(`${name}_hang`, {}, { timeoutMs })).message;
  const late = (ms: number) => `The tool did not answer within ${ms} ms.`;
  const [own50, own250, plain, packed, free200] = await Promise.all([
    hang("own", 50),
    hang("own"),
    hang("plain"),
    hang("packed"),
    hang("free", 400),
  ]);
  expect([own50, own250, plain, packed, free200]).toEqual([50, 250, 300, 200, 400].map(late));
});

test("a server that is waited for is named, with the seconds of its limit", () => {
  expect(formatWaiting({ label: "a\u001b", limitMs: 60_000 })).toMatch(
    /^Waiting for a\S* to start \(at most 60 s\)$/,
  );
  expect(formatWaiting({ label: "a", limitMs: null })).toContain("(no limit)");
});
