// Integers beyond 2^53 on their way from clients through a served session to servers and back. Everything ends with its test.
import { createServer } from "node:http";
import { PassThrough } from "node:stream";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { openAiTools } from "../../src/adapters.ts";
import { parseExactly, stringifyExactly } from "../../src/data/exact-integers.ts";
import { mirrorArguments } from "../../src/mcp/client/remote-server.ts";
import { serveStdio } from "../../src/mcp/stdio/serve-stdio.ts";
import { createRedactor } from "../../src/runtime/redact.ts";
import { SessionGateway } from "../../src/serve/session-gateway.ts";
import { post } from "../mcp/http/served.ts";
import { envelope, erasOf, headersFor } from "../mcp/modern/modern-served.ts";
import { makeProject, openForTest } from "../session/support/session.ts";
import { serveForTest } from "../support/clients.ts";
import { listen } from "../support/listen.ts";
import { runMain } from "../support/main.ts";

/** The arguments of every call, as written. */
const sent = `{"id":725653563933458433,"nested":{"ids":[725653563933458434,-9223372036854775808,[{"id":18446744073709551615}]]},"text":"725653563933458433","float":0.1}`;
/** What every server answers, with the arguments that it got in place of SENT. */
const answer = `{"content":[{"type":"text","text":"done","_meta":{"id":725653563933458435}}],"structuredContent":{"id":725653563933458436,"sent":SENT},"_meta":{"ids":[725653563933458437],"cursor":725653563933458438}}`;
const bare = `{"content":[],"structuredContent":{"sent":SENT}}`;

/** Answers a message of a client as a server in another language does, which keeps every digit. */
const respond = (line: string, result: string) => {
  const message = JSON.parse(line);
  const id = /"id":(\d+),"method"/.exec(line)?.[1];
  const start = line.indexOf('"arguments":') + 12;
  let end = start;
  for (let depth = 0; start > 11 && end < line.length; ) {
    if ("{[".includes(line.charAt(end))) depth++;
    if ("]}".includes(line.charAt(end++)) && --depth === 0) break;
  }
  const serverInfo = { name: "s", version: "1" };
  const tools = [
    {
      name: "get",
      inputSchema: { type: "object", properties: { id: { type: "integer", "x-mcp-header": "Id" } } },
    },
  ];
  const others: Record<string, object> = {
    initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo },
    "tools/list": { tools },
    "server/discover": { supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, serverInfo },
  };
  const text = others[message.method]
    ? JSON.stringify(others[message.method])
    : result.replace("SENT", line.slice(start, end));
  return id === undefined ? "" : `{"jsonrpc":"2.0","id":${id},"result":${text}}\n`;
};

const program = `
import { createInterface } from "node:readline";
const respond = ${respond};
createInterface({ input: process.stdin }).on("line", (line) => process.stdout.write(respond(line, process.argv[2])));
`;

/** A remote server, whose answers are a stream of events in small pieces. */
async function serveRemote() {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    if (request.method !== "POST") return response.writeHead(405).end();
    const messages = respond(body, answer).split("\n").slice(0, -1);
    if (messages.length === 0) return response.writeHead(202).end();
    response.writeHead(200, { "content-type": "text/event-stream" });
    const text = messages.map((message) => `id: 725653563933458433\r\ndata: ${message}\r\n\r\n`).join("");
    for (let at = 0; at < text.length; at += 50) {
      response.write(text.slice(at, at + 50));
      await new Promise(setImmediate);
    }
    return response.end();
  });
  const { port } = await listen(server);
  return `http://127.0.0.1:${port}/mcp`;
}

let cwd: string;
beforeEach(async () => {
  cwd = makeProject(
    {},
    {
      "server.mjs": program,
      "trailblaze.config.json": {
        logDir: "logs",
        mcpServers: {
          local: { command: process.execPath, args: ["server.mjs", answer] },
          bare: { command: process.execPath, args: ["server.mjs", bare], prefix: "bare" },
          events: { url: await serveRemote(), prefix: "events" },
        },
      },
    },
  );
});

const request = (name: string, isModern: boolean) =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${sent},"_meta":${JSON.stringify(isModern ? envelope() : {})}}}`;

/** Sends calls over stdio, and returns what was written until the answer of each. */
async function overStdio(names: readonly string[]): Promise<string[]> {
  const session = await openForTest(cwd, { config: "trailblaze.config.json" });
  const gateway = new SessionGateway(Promise.resolve(session), () => {});
  const { connection } = erasOf(gateway, "both", { only: () => gateway.ownScope() });
  const [input, output] = [new PassThrough(), new PassThrough()];
  let text = "";
  output.setEncoding("utf8").on("data", (more: string) => {
    text += more;
  });
  const running = await serveStdio(connection(), { input, output });
  onTestFinished(() => running.close());
  const texts: string[] = [];
  for (const name of names) {
    text = "";
    input.write(`${request(name, false)}\n`);
    await expect.poll(() => text).toContain('"result"');
    texts.push(text);
  }
  return texts;
}

async function overHttp(names: readonly string[]) {
  const { url } = await serveForTest(null, { cwd, session: { watch: false } });
  const texts: string[] = [];
  for (const name of names) {
    const headers = headersFor({ method: "tools/call", params: { name } });
    const mirrored = { ...headers, "mcp-param-id": "725653563933458433" };
    texts.push(await (await post({ url }, request(name, true), mirrored)).text());
  }
  return texts;
}

test.each([
  ["legacy", "stdio", overStdio],
  ["modern", "HTTP", overHttp],
])("a %s client over %s: arguments and results keep every digit", async (_era, _, call) => {
  for (const text of await call(["get", "events_get"])) {
    expect(text).toContain(`"structuredContent":{"id":725653563933458436,"sent":${sent}}`);
    expect(text).toContain('"_meta":{"id":725653563933458435}');
    expect(text).toContain('"ids":[725653563933458437],"cursor":725653563933458438');
    expect(text).not.toContain('"integer ');
  }
});

test("what a host reads and writes exactly, or gets from a model as text", async () => {
  const session = await openForTest(cwd, { config: "trailblaze.config.json" });
  const result = await session.callTool("get", parseExactly(sent));
  expect(stringifyExactly(result.structuredContent)).toBe(`{"id":725653563933458436,"sent":${sent}}`);
  expect(result.structuredContent).toMatchObject({ id: Number("725653563933458436") });
  const { call } = openAiTools(session);
  const item = { type: "function_call", call_id: "1", name: "bare_get", arguments: sent } as const;
  expect((await call(item)).output).toBe(`{"sent":${sent}}`);
});

const run = async (...args: string[]) => {
  const { stdout, stderr, exitCode } = await runMain(["call", "bare_get", ...args], { cwd });
  expect(exitCode, stderr).toBe(0);
  return stdout.replaceAll(/\s/g, "");
};

test("takes and prints integers exactly: as words, in JSON, and mixed", async () => {
  const word = "725653563933458433";
  expect(await run(`id=${word}`, `list=[${word}]`)).toBe(`{"sent":{"id":${word},"list":[${word}]}}`);
  expect(await run("--args", sent, `id=${word}9`)).toBe(`{"sent":${sent.replace(word, `${word}9`)}}`);
  expect(await run("--args", sent, "--json")).toContain(`"structuredContent":{"sent":${sent}}`);
});

test("a header repeats every digit of its argument, and an integer that is a secret is redacted", () => {
  const schema = { properties: { id: { type: "integer", "x-mcp-header": "Id" } } };
  expect(mirrorArguments(schema, parseExactly(sent))).toEqual({ "mcp-param-id": "725653563933458433" });
  const value = createRedactor(["725653563933458433"]).redactValue(parseExactly(sent));
  expect(stringifyExactly(value)).toBe(sent.replaceAll(/"?725653563933458433"?/g, '"[redacted]"'));
});
