import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { ServerResponse } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  type Answer,
  answerStart,
  type Received,
  sendJson,
  serveHttp,
  serveLegacy,
  serveRaw,
} from "../../support/remote-servers.ts";
import { waitUntil } from "../../support/wait-until.ts";
import { call, problemOf, type RemoteLaunchOptions, startRemote } from "./start-remote.ts";

const redirectTo = (status: number, location: string, response: ServerResponse) =>
  response.writeHead(status, { location }).end();

const failStart = async (answer: Answer, options?: RemoteLaunchOptions) =>
  problemOf((await serveHttp(answer)).url, options);

/** The error of a call to a server that has started and answers calls like this. */
async function failCall(answer: Answer, options?: RemoteLaunchOptions): Promise<unknown> {
  const server = await startRemote((await serveRaw(answer)).url, options).ready;
  return server.call("tools/call", call("echo")).then(
    () => undefined,
    (error: unknown) => error,
  );
}

const resultOf = ({ message }: Received, value: object) => ({
  jsonrpc: "2.0",
  id: message.id,
  result: value,
});

/** Answers any call. */
const answerCall: Answer = (received, _request, response) =>
  sendJson(response, 200, resultOf(received, { content: [] }));

describe("redirects of a remote server", () => {
  test.each([307, 308])(
    "a redirect with status %i within the origin is followed with the same request",
    async (status) => {
      const remote = await serveRaw((received, request, response) =>
        request.url === "/mcp"
          ? redirectTo(status, "/moved", response)
          : sendJson(response, 200, resultOf(received, { content: [] })),
      );
      const server = await startRemote(remote.url, { headers: { "X-Key": "abc" } }).ready;
      expect(await server.call("tools/call", call("echo", { a: 1 }))).toEqual({ content: [] });
      const [first, second] = remote.received.slice(-2);
      expect(second?.message).toEqual(first?.message);
      expect(second?.headers["x-key"]).toBe("abc");
    },
  );

  test("a redirect to another origin is refused, and that origin gets no request", async () => {
    const other = await serveHttp((_received, _request, response) => response.end());
    const problem = await failStart((_received, _request, response) =>
      redirectTo(307, `${other.url}?token=hunter2`, response),
    );
    expect(problem).toMatchObject({
      code: "RemoteRedirect",
      args: { label: "docs", status: 307, target: other.url.concat("?…") },
    });
    expect(other.received).toEqual([]);
  });

  test.each([
    [308, "/more"],
    [301, "/moved"],
    [303, "/moved"],
  ])("a redirect with status %i to %s is refused within the origin, too", async (status, path) => {
    const problem = await failStart((_received, request, response) =>
      redirectTo(status, `${request.url}${path}`, response),
    );
    expect(problem).toMatchObject({ code: "RemoteRedirect", args: { status } });
  });
});

describe("authorization of a remote server", () => {
  test.each([
    [401, 'Bearer realm="x", resource_metadata="https://a.b"', { scheme: "Bearer" }],
    [401, "Basic", { scheme: "Basic" }],
    [403, undefined, {}],
  ])(
    "status %i at the start with WWW-Authenticate %s is AuthorizationRequired",
    async (status, value, scheme) => {
      const problem = await failStart((_received, _request, response) =>
        response.writeHead(status, value === undefined ? {} : { "www-authenticate": value }).end("no"),
      );
      expect(problem).toMatchObject({ code: "AuthorizationRequired" });
      expect(problem.args).toEqual({ label: "docs", status, reason: "no", ...scheme });
      expect(problem.hint).toMatch(/`trailblaze login docs`.*`headers`/);
    },
  );

  test("a refusal whose text does not end has what has arrived of it, without the start of a secret", async () => {
    const problem = await failStart(
      (_received, _request, response) => response.writeHead(403).write("Not with hunter2-hun"),
      { headers: { "X-Key": "hunter2-hunter2" } },
    );
    expect(problem).toMatchObject({
      code: "AuthorizationRequired",
      args: { label: "docs", status: 403, reason: "Not with [redacted]" },
    });
  });

  test("status 401 of a call fails that call with the server, the scheme and the key to set", async () => {
    let isOpen = false;
    const remote = await serveRaw((...all) =>
      isOpen ? answerCall(...all) : all[2].writeHead(401, { "www-authenticate": "Bearer" }).end(),
    );
    const server = await startRemote(remote.url).ready;
    await expect(server.call("tools/call", call("echo"))).rejects.toMatchObject({
      name: "ServerCallError",
      message: expect.stringMatching(/"docs".*Bearer.*`headers`/),
    });
    isOpen = true;
    expect(await server.call("tools/call", call("echo"))).toEqual({ content: [] });
  });
});

describe("answers of a remote server that are not MCP", () => {
  test.each<[string, Answer, RegExp]>([
    [
      "HTML",
      (_received, _request, response) =>
        response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end("<html>"),
      /text\/html.*URL/,
    ],
    [
      "a status and a page",
      (_received, _request, response) =>
        response
          .writeHead(502, { "content-type": "text/html" })
          .end("<style>secret</style><h1>Bad\n gateway</h1>\u001b[2J<p>nginx</p>"),
      /status 502: Bad gateway \S+ nginx$/,
    ],
    [
      "a stream without an answer",
      (_received, _request, response) =>
        response.writeHead(200, { "content-type": "text/event-stream" }).end(": nothing\n\n"),
      /did not answer/,
    ],
    ["no content", (_received, _request, response) => response.writeHead(202).end(), /no content/],
    [
      "the answer to another request",
      (_received, _request, response) => sendJson(response, 200, { jsonrpc: "2.0", id: 4711, result: {} }),
      /did not answer the request/,
    ],
    [
      "an error in a status",
      (_received, _request, response) =>
        sendJson(response, 400, { jsonrpc: "2.0", id: null, error: { code: -32600, message: "no way" } }),
      /error -32600: no way/,
    ],
  ])("a start that is answered with %s fails with the reason", async (_, answer, reason) => {
    const problem = await failStart(answer);
    expect(problem).toMatchObject({
      code: "ServerStartFailed",
      args: { label: "docs", reason: expect.stringMatching(reason) },
    });
    expect(JSON.stringify(problem)).not.toContain("secret");
    expect(await failCall(answer)).toMatchObject({
      name: "ServerCallError",
      message: expect.stringMatching(reason),
    });
  });

  test("a server that never answers fails the start after the timeout of the handshake", async () => {
    const remote = await serveHttp(() => {});
    const problem = await problemOf(remote.url, { handshakeMs: 200 });
    expect(problem).toMatchObject({ args: { reason: expect.stringMatching(/`initialize` within 200 ms/) } });
    await waitUntil(() => remote.received.every(({ isAborted }) => isAborted));
  });

  test("a URL without a server fails the start after one try", async () => {
    const remote = await serveHttp(() => {});
    await remote.stop();
    const problem = await problemOf(remote.url);
    expect(problem).toMatchObject({
      code: "ServerStartFailed",
      args: { reason: expect.stringContaining("ECONNREFUSED") },
    });
  });

  test("values of headers are in no message, also if the server repeats them", async () => {
    const headers = { Authorization: "Bearer hunter2hunter2" };
    const problem = await failStart(
      ({ headers: sent }, _request, response) =>
        sendJson(response, 400, {
          jsonrpc: "2.0",
          id: null,
          error: { code: -32600, message: `bad ${sent.authorization}, ${sent.authorization?.slice(7)}` },
        }),
      { headers },
    );
    expect(problem.message).toContain("bad [redacted], [redacted]");
    expect(JSON.stringify(problem)).not.toContain("hunter2");
  });
});

const limits = { frameBytes: 10_000, depth: 20 };
const deep = (depth: number) => JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`);
const stream = (response: ServerResponse, ...messages: object[]) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const message of messages) response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  return response.end();
};
const forms: [string, (response: ServerResponse, message: object) => unknown][] = [
  ["JSON", (response, message) => sendJson(response, 200, message)],
  ["a stream", (response, message) => stream(response, message)],
];

test.each(forms)(
  "a message above the limit in %s fails its call, and the next one succeeds",
  async (_, send) => {
    let content: object[] = [{ type: "text", text: "x".repeat(20_000) }];
    const remote = await serveRaw((received, _request, response) =>
      send(response, resultOf(received, { content })),
    );
    const server = await startRemote(remote.url, { limits }).ready;
    const fail = () => server.call("tools/call", call("echo")).catch((error: Error) => error.message);
    expect(await fail()).toMatch(/more than 9\.8 KiB|more than 10,000|more than 10/);
    content = [{ type: "text", text: "y", data: deep(30) }];
    expect(await fail()).toMatch(/more than 20 levels/);
    content = [{ type: "text", text: '[[[[[[[["\\"[[[[[[[[[[[[[[[[[[[[[[' }];
    expect(await server.call("tools/call", call("echo"))).toEqual({ content });
  },
);

test("an answer may begin with a byte order mark, and its white space counts", async () => {
  let space = "\n";
  const remote = await serveRaw((received, _request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(`\uFEFF{${space}${JSON.stringify(resultOf(received, { content: [] })).slice(1)}`);
  });
  const server = await startRemote(remote.url, { limits: { frameBytes: 10_000 } }).ready;
  expect(await server.call("tools/call", call("echo"))).toEqual({ content: [] });
  space = "\n".repeat(20_000);
  await expect(server.call("tools/call", call("echo"))).rejects.toThrow("a message of more than");
});

test("the answer of another request on a stream, or the rest of a cut one, does not answer a request", async () => {
  let end = "\n";
  const remote = await serveRaw((received, _request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const answer = resultOf(received, { content: [] });
    response.write(`data: ${JSON.stringify({ ...answer, id: 999 })}\n\n`);
    setTimeout(() => response.end(`data: ${JSON.stringify(answer)}\n${end}`), 1500);
  });
  const server = await startRemote(remote.url).ready;
  expect(await server.call("tools/call", call("echo"))).toEqual({ content: [] });
  end = "";
  await expect(server.call("tools/call", call("echo"))).rejects.toThrow("did not answer the request");
});

test("events are read as they arrive, each with its own limit", async () => {
  const end = "\r\n";
  const log = (data: string) => ({
    jsonrpc: "2.0",
    method: "notifications/message",
    params: { level: "info", data: data.repeat(4000) },
  });
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const remote = await serveRaw(async (received, _request, response) => {
    const send = (message: object) => {
      // A line end in two chunks is one line end.
      response.write(`event: message${end}data: ${JSON.stringify(message)}${end}`);
      return new Promise((resolve) => response.write(end, resolve));
    };
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const data of ["a", "b", "c"]) await send(log(data));
    await released;
    await send(resultOf(received, { content: [] }));
    response.end();
  });
  const starting = startRemote(remote.url, { limits: { frameBytes: 10_000 } });
  const called = (await starting.ready).call("tools/call", call("echo"));
  await waitUntil(() => starting.logs.length === 3);
  release();
  expect(await called).toEqual({ content: [] });
});

test("no request goes through Node's fetch, which gives up after five minutes whatever the timeout is", async () => {
  const paths: string[] = [];
  const note = (event: unknown) => paths.push((event as { request: { path: string } }).request.path);
  subscribe("undici:request:create", note);
  onTestFinished(() => void unsubscribe("undici:request:create", note));
  const remote = await serveRaw(answerCall);
  const server = await startRemote(remote.url).ready;
  expect(await server.call("tools/call", call("echo"))).toEqual({ content: [] });
  expect(paths).not.toContain(new URL(remote.url).pathname);
});

describe("a connection that is lost", () => {
  test.each([
    ["in the middle of JSON", { "content-type": "application/json", "content-length": "100" }, '{"jsonrpc"'],
    ["in the middle of a stream", { "content-type": "text/event-stream" }, ": hello\n\n"],
    ["before the answer", undefined, ""],
  ] as const)("a call whose connection is lost %s fails and is not sent again", async (_, headers, start) => {
    const remote = await serveRaw((_received, request, response) => {
      if (headers === undefined) return request.socket.destroy();
      // Node's client takes what it has for the whole answer where the server has announced the end.
      response.removeHeader("connection");
      response.writeHead(200, headers);
      return response.write(start, () => request.socket.destroy());
    });
    const server = await startRemote(remote.url).ready;
    await expect(server.call("tools/call", call("echo"))).rejects.toMatchObject({
      name: "ServerCallError",
      message: expect.stringContaining("connection failed"),
    });
    expect(remote.methods().filter((method) => method === "tools/call")).toHaveLength(1);
  });

  test("a stream whose events have ids is resumed, and its call is not sent again", async () => {
    const remote = await serveHttp((received, request, response) => {
      if (received.message?.id === undefined && received.http === "POST")
        return response.writeHead(202).end();
      const start = received.http === "POST" ? answerStart(received) : undefined;
      if (start !== undefined) return sendJson(response, 200, start);
      const id = received.headers["last-event-id"];
      if (received.http === "GET" && id === undefined) return response.writeHead(405).end();
      response.writeHead(200, { "content-type": "text/event-stream" });
      if (id === undefined)
        return response.write(`id: of-${received.message.id}\nretry: 10\ndata:\n\n`, () =>
          request.socket.destroy(),
        );
      const answer = { jsonrpc: "2.0", id: Number(String(id).slice(3)), result: { content: [] } };
      return response.end(`data: ${JSON.stringify(answer)}\n\n`);
    });
    const server = await startRemote(remote.url).ready;
    expect(await server.call("tools/call", call("echo"))).toEqual({ content: [] });
    expect(remote.methods().filter((method) => method === "tools/call")).toHaveLength(1);
  });
});

test("a call in a lost session fails, is not sent again, and the server has exited", async () => {
  const remote = await serveLegacy();
  const server = await startRemote(remote.url).ready;
  remote.forget();
  const calls = ["a", "b"].map((text) => server.call("tools/call", call("echo", { text })));
  for (const outcome of await Promise.allSettled(calls))
    expect(outcome).toMatchObject({
      reason: { exit: { isLost: true }, message: expect.stringContaining("no longer knows the session") },
    });
  expect(await server.exit).toMatchObject({ isLost: true, reason: "it no longer knows the session" });
  const methods = remote.methods();
  expect(methods.filter((method) => method === "initialize")).toHaveLength(1);
  expect(methods.filter((method) => method === "tools/call").length).toBeLessThanOrEqual(2);
});
