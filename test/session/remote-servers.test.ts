import { describe, expect, test, vi } from "vitest";
import { sendJson, serveHttp, serveLegacy, serveModern, serveRaw } from "../support/remote-servers.ts";
import { jsonOf, makeProject, namesOf, openForTest, probe } from "./support/session.ts";

describe("remote servers of the config in a session", () => {
  test("a session has the tools of remote servers of both eras beside those of programs", async () => {
    const [legacy, modern] = [await serveLegacy(), await serveModern({ legacy: "reject" })];
    const connected: unknown[] = [];
    const session = await openForTest(makeProject({}), {
      config: {
        memory: { user: "ada", token: "hunter2" },
        sensitiveMemory: ["token"],
        trailblazeSubprocessToolsets: [probe("local")],
        mcpServers: {
          old: {
            url: `${legacy.url}?key=hunter2`,
            prefix: "old",
            tools: { deny: ["slow"] },
            toolset: "mine",
          },
          "my docs": { type: "http", url: modern.url, headers: { "X-Key": "abc" }, prefix: "docs" },
        },
      },
      onConnect: (server) => connected.push(server),
    });
    expect(namesOf(session.tools)).toEqual(
      expect.arrayContaining(["local_env", "old_echo", "old_fail", "docs_echo", "docs_fail", "docs_slow"]),
    );
    expect(session.skipped).toMatchObject([{ name: "old_slow", reason: "Denied" }]);
    expect(session.toolsets).toContainEqual({ name: "mine", tools: ["old_echo", "old_fail"] });
    expect(session.problems).toEqual([]);
    expect(connected).toEqual([
      { label: "old", url: `${legacy.url}?…` },
      { label: "my docs", url: modern.url },
    ]);

    expect(jsonOf(await session.callTool("old_echo", { text: "a" })).args).toEqual({ text: "a" });
    expect(jsonOf(await session.callTool("my docs/echo", { text: "b" })).args).toEqual({ text: "b" });
    expect(await session.callTool("docs_fail")).toMatchObject({ variant: "ExceptionThrown" });
    expect(session.recording).toEqual([{ old_echo: { text: "a" } }, { docs_echo: { text: "b" } }]);
    expect(modern.received.every(({ headers }) => headers["x-key"] === "abc")).toBe(true);
  });

  test.each([
    [true as boolean | undefined, "gets the envelope in `_meta` without an address to call back"],
    [undefined, "gets no context by default"],
  ])("with `context: %s`, a remote server %s, and its arguments as they are", async (context) => {
    const remote = await serveRaw(({ message }, _request, response) =>
      sendJson(response, 200, { jsonrpc: "2.0", id: message.id, result: { content: [] } }),
    );
    const session = await openForTest(makeProject({}), {
      config: {
        memory: { user: "ada" },
        device: { platform: "WEB" },
        mcpServers: { docs: { url: remote.url, context } },
      },
    });
    await session.callTool("echo", { a: 1 });
    const { arguments: args, _meta } = remote.received.at(-1)?.message.params ?? {};
    expect(args).toEqual({ a: 1 });
    if (context === undefined) return expect(_meta?.trailblaze).toBeUndefined();
    expect(_meta.trailblaze).toEqual({
      sessionId: session.id,
      invocationId: expect.any(String),
      device: expect.objectContaining({ platform: "web" }),
      memory: { user: "ada" },
    });
  });

  test("variables are replaced in the URL and the headers, and shown as written", async () => {
    const remote = await serveLegacy();
    vi.stubEnv("REMOTE_TEST_URL", remote.url);
    vi.stubEnv("REMOTE_TEST_TOKEN", "hunter2");
    const connected: unknown[] = [];
    await openForTest(makeProject({}), {
      config: {
        mcpServers: {
          docs: { url: "${REMOTE_TEST_URL}", headers: { Authorization: "Bearer ${REMOTE_TEST_TOKEN}" } },
        },
      },
      onConnect: (server) => connected.push(server),
    });
    expect(connected).toEqual([{ label: "docs", url: "${REMOTE_TEST_URL}" }]);
    expect(remote.received[0]?.headers.authorization).toBe("Bearer hunter2");
  });

  test.each([
    ["credentials", "http://me:hunter2@127.0.0.1:1", "a", /URL contains credentials/],
    ["a line break in a header", "http://127.0.0.1:1", "a\nhunter2: 1", /header "X-Key"/],
  ])("variables whose values make %s fail the start without their values", async (_, url, header, reason) => {
    vi.stubEnv("REMOTE_TEST_URL", url);
    vi.stubEnv("REMOTE_TEST_HEADER", header);
    const entry = { url: "${REMOTE_TEST_URL}", headers: { "X-Key": "${REMOTE_TEST_HEADER}" } };
    const error = await openForTest(makeProject({}), { config: { mcpServers: { docs: entry } } }).catch(
      (thrown) => thrown,
    );
    expect(error).toMatchObject({
      code: "ServerStartFailed",
      problem: {
        path: ["mcpServers", "docs"],
        args: { label: "docs", reason: expect.stringMatching(reason) },
      },
    });
    expect(JSON.stringify(error.problem)).not.toContain("hunter2");
  });

  test("a remote server that does not start fails the session with the problem at its place", async () => {
    const remote = await serveHttp((_received, _request, response) =>
      response.writeHead(307, { location: "http://127.0.0.1:1/mcp" }).end(),
    );
    const config = { mcpServers: { docs: { url: remote.url } } };
    await expect(openForTest(makeProject({}), { config })).rejects.toMatchObject({
      code: "RemoteRedirect",
      problem: { path: ["mcpServers", "docs"], args: { label: "docs" } },
    });
  });
});

test("a remote server that refuses a client says why in the problem, without the values of variables", async () => {
  vi.stubEnv("REMOTE_TEST_TOKEN", "hunter2-hunter2");
  const remote = await serveHttp((_received, request, response) =>
    response.writeHead(403).end(`Your plan has no access with ${request.headers["x-key"]}.`),
  );
  const entry = { url: remote.url, headers: { "X-Key": "${REMOTE_TEST_TOKEN}" } };
  const opening = openForTest(makeProject({}), { config: { mcpServers: { docs: entry } } });
  const error = await opening.catch((thrown) => thrown);
  expect(error).toMatchObject({ code: "AuthorizationRequired", problem: { path: ["mcpServers", "docs"] } });
  expect(error.message).toContain('HTTP status 403: "Your plan has no access with ');
  expect(error.message).not.toContain("hunter2");
});
