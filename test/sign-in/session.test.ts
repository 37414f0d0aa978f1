import { chmodSync, readFileSync, statSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { useStoredTokens } from "../../src/sign-in/renew.ts";
import { isEnding } from "../../src/sign-in/stored.ts";
import { openForTest } from "../session/support/session.ts";
import { connectLegacy, serveForTest } from "../support/clients.ts";
import { command } from "../support/run-cli.ts";
import { runProcess } from "../support/run-process.ts";
import { textIn } from "../support/tree.ts";
import { makeSignIn } from "./support.ts";

type Setting = Awaited<ReturnType<typeof makeSignIn>>;

/** A stored token of which less than a minute is left. */
const ending = () => ({ receivedAt: Date.now() - 3_550_000, lifeMs: 3_600_000 });

const call = ({ run }: Setting) => run(["call", "docs/echo"]);

test("without a sign-in, the server is left out and the command that signs in is named", async () => {
  const setting = await makeSignIn();
  const tools = await setting.run(["tools", "--json"]);
  const { servers, problems } = JSON.parse(tools.stdout);
  expect(servers).toMatchObject([{ label: "docs", state: "failed", reason: "AuthorizationRequired" }]);
  expect(problems).toMatchObject([
    { code: "AuthorizationRequired", hint: expect.stringMatching(/`trailblaze login docs`.*`headers`/) },
  ]);
  const called = await call(setting);
  expect(called).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("trailblaze login docs") });
  const doctor = await setting.run(["doctor", "--json"]);
  expect(JSON.parse(doctor.stdout).checks).toContainEqual({
    name: "sign-in",
    ok: false,
    summary: "docs: never",
  });
  expect(setting.remote.to("/register")).toEqual([]);
  expect(setting.left()).toEqual([]);
});

test("from login to the second day: calls send the token, renew it, and it is in no file but its own", async () => {
  const setting = await makeSignIn();
  const { remote, cwd, stored, left } = setting;
  let output = "";
  const run = async (...args: string[]) => {
    const answer = await setting.run(args);
    output += answer.stdout + answer.stderr;
    return answer;
  };
  const call = () => run("call", "docs/echo", "--json");
  await setting.login();
  expect(await run("call", "docs/echo")).toMatchObject({ exitCode: 0, stdout: "called\n" });
  expect(remote.to("/token")).toHaveLength(1);
  setting.change(ending());
  const before = stored().tokens;
  expect(await call()).toMatchObject({ exitCode: 0 });
  const [, refresh] = remote.to("/token");
  expect(Object.fromEntries(refresh?.form ?? [])).toMatchObject({
    grant_type: "refresh_token",
    resource: remote.url,
  });
  expect(stored().tokens.access_token).not.toBe(before.access_token);
  // The server knows none of the tokens any more, and the session renews once.
  remote.revoke();
  expect(await call()).toMatchObject({ exitCode: 0 });
  expect(remote.to("/token")).toHaveLength(3);
  expect((await run("doctor", "--json")).stdout).toMatch(/"docs: signed in until 20/);
  await run("approve", "--all", "--dry-run");
  await run("approve", "--all", "--yes");
  await run("diff", "--json");

  // A session and a client of the gateway live longer than a token.
  setting.stubEnv();
  const session = await openForTest(cwd, { config: "trailblaze.config.yaml" });
  const { url } = await serveForTest(null, { cwd });
  const client = await connectLegacy(url);
  await expect.poll(async () => (await client.listTools()).tools.length, { timeout: 60_000 }).toBe(1);
  setting.change(ending());
  expect(await session.callTool("echo", {})).toMatchObject({ variant: "Success" });
  setting.change(ending());
  expect(await client.callTool({ name: "echo", arguments: {} })).toMatchObject({
    content: [{ text: "called" }],
  });
  expect(remote.to("/token")).toHaveLength(5);
  expect(left()).toHaveLength(1);
  const text = textIn(cwd).replaceAll(readFileSync(setting.file, "utf8"), () => output);
  for (const token of remote.tokens()) expect(text).not.toContain(token);
});

test("three processes at once make one refresh, and a refused one deletes the tokens alone", async () => {
  const setting = await makeSignIn();
  const { remote, stored, file, stubEnv } = setting;
  await setting.login();
  stubEnv();
  const server = { label: "docs", url: new URL(remote.url), headers: {}, oauth: {} };
  const secrets = new Set<string>();
  const one = () => useStoredTokens(server, (some) => secrets.add(some.join(" ")));
  chmodSync(file, 0o644);
  await one().tokens();
  expect(statSync(file).mode & 0o777).toBe(0o600);

  setting.change(ending());
  const env = { ...process.env, ...setting.env };
  const place = { cwd: setting.cwd, env, timeoutMs: 120_000 };
  const start = () => runProcess(process.execPath, [command, "call", "docs/echo"], place);
  const answers = await Promise.all(Array.from({ length: 3 }, start));
  expect(answers.map(({ stdout }) => stdout)).toEqual(Array(3).fill("called\n"));
  expect(remote.to("/token")).toHaveLength(2);
  const token = stored().tokens.access_token;
  expect(await one().tokens()).toMatchObject({ access_token: token });
  expect([...secrets].join(" ")).toContain(token);

  setting.change(ending());
  const kept = stored();
  remote.behavior.token = (_, response) => Boolean(response.writeHead(503).end());
  expect(await one().tokens()).toMatchObject({ access_token: token });
  expect(stored()).toEqual(kept);
  remote.behavior.token = undefined;
  setting.change({ refresh_token: "unknown" });
  expect(await one().tokens()).toMatchObject({ access_token: token });
  expect(stored()).toMatchObject({ client: kept.client, issuer: remote.origin });
  expect(stored().tokens).toBeUndefined();
});

test("where the disk is full, no token is redeemed", async () => {
  const setting = await makeSignIn();
  const { remote, cwd, stored } = setting;
  await setting.login();
  const before = setting.change(ending());
  const args = ["-c", 'ulimit -f 1; exec "$0" "$@"', process.execPath, command, "call", "docs/echo"];
  const env = { ...process.env, ...setting.env };
  expect(await runProcess("sh", args, { cwd, env, timeoutMs: 60_000 })).toMatchObject({ stdout: "called\n" });
  expect([stored(), remote.to("/token").length]).toEqual([before, 1]);
});

test.each([
  ["a minute before the end", 3_600_000, 3_541_000, true],
  ["two minutes before the end", 3_600_000, 3_480_000, false],
  ["after half of a short life", 40_000, 21_000, true],
  ["before half of a short life", 40_000, 15_000, false],
  ["with an unknown life", null, 1e9, false],
  ["after the clock was an hour ahead", 60_000, -3_600_000, false],
  ["when the clock is an hour ahead", 1_800_000, 3_600_000, true],
])("a token %s is renewed or not", (_, lifeMs, ageMs, isWanted) => {
  expect(isEnding({ access_token: "a", receivedAt: Date.now() - ageMs, lifeMs })).toBe(isWanted);
});

test("doctor calls a sign-in expired that cannot be renewed", async () => {
  const { login, change, remote, run } = await makeSignIn();
  await login();
  change({ receivedAt: 0, refresh_token: undefined });
  remote.revoke();
  const { checks } = JSON.parse((await run(["doctor", "--json"])).stdout);
  expect(checks).toContainEqual({ name: "sign-in", ok: false, summary: "docs: expired" });
});

test("client credentials need no login, and their secret is only sent to the issuer", async () => {
  const secret = { clientId: "me", clientSecret: "${DOCS_SECRET}", grant: "client_credentials" } as const;
  const setting = await makeSignIn({}, { oauth: { ...secret, issuer: "${DOCS_ISSUER}" } });
  const { remote, run, stored } = setting;
  vi.stubEnv("DOCS_SECRET", "hunter2-hunter2");
  vi.stubEnv("DOCS_ISSUER", remote.origin);
  expect(await call(setting)).toMatchObject({ exitCode: 0, stdout: "called\n" });
  expect(remote.to("/token")).toHaveLength(1);
  remote.revoke();
  expect(await call(setting)).toMatchObject({ exitCode: 0 });
  expect(remote.to("/token")).toHaveLength(2);
  expect(JSON.stringify(stored())).not.toContain("hunter2");
  expect((await run(["doctor", "--json"])).stdout).toMatch(/docs: signed in until/);

  // What is about to end is replaced at the recorded endpoint, with the scopes that were granted.
  setting.change({ ...ending(), scope: "read write" });
  const discoveries = () => remote.seen.filter(({ path }) => path.startsWith("/.well-known")).length;
  const before = discoveries();
  expect(await call(setting)).toMatchObject({ exitCode: 0 });
  expect([discoveries(), remote.to("/token").at(-1)?.form.get("scope")]).toEqual([before, "read write"]);
  expect(JSON.parse((await setting.login()).stdout)).toMatchObject({
    issuer: remote.origin,
    scopes: ["read"],
  });
  remote.behavior.token = (form, response) => {
    const body = { error: "invalid_client", error_description: `not ${process.env.DOCS_SECRET} ${form}` };
    return Boolean(response.writeHead(400).end(JSON.stringify(body)));
  };
  const { stdout, stderr } = await setting.login();
  expect(JSON.parse(stdout).error.args.reason).toBe("exchange");
  expect(stdout + stderr).not.toContain("hunter2");
});

test("a secret goes to no issuer that an answer by http from elsewhere names", async () => {
  const url = new URL("http://mcp.example/mcp");
  const { remote, stubEnv } = await makeSignIn({ resource: url.href });
  stubEnv();
  const oauth = { clientId: "me", clientSecret: "hunter2-hunter2", grant: "client_credentials" } as const;
  const challenge = `Bearer resource_metadata="${remote.origin}/.well-known/oauth-protected-resource"`;
  const answer = new Response(null, { status: 401, headers: { "www-authenticate": challenge } });
  const tokens = useStoredTokens({ label: "docs", url, headers: {}, oauth }, () => {});
  await expect(tokens.renew(undefined, answer)).rejects.toMatchObject({
    problem: { args: { reason: "endpoint" } },
  });
  expect(remote.seen).toEqual([]);
});

test("a call that needs more scopes fails with the command that asks for them", async () => {
  const setting = await makeSignIn({ callScope: "write" });
  await setting.login();
  const { exitCode, stdout, stderr } = await call(setting);
  expect(exitCode).toBe(1);
  expect(stdout + stderr).toContain('trailblaze login docs --scope "read write"');
  expect(await setting.login("--scope", "read write")).toMatchObject({ exitCode: 0 });
  expect(await call(setting)).toMatchObject({ exitCode: 0 });
});

test.each<[string, Parameters<typeof makeSignIn>]>([
  ["OpenID Connect", [{ metadata: "openid-configuration" }]],
  ["no metadata of the server", [{ hasResourceMetadata: false }]],
  ["a given client", [{}, { oauth: { clientId: "mine", scopes: ["x"], callbackPort: 45_871 } }]],
])("a sign-in with %s has a resource in both requests", async (_, given) => {
  const { remote, login } = await makeSignIn(...given);
  expect(await login()).toMatchObject({ exitCode: 0 });
  expect(remote.to("/token")[0]?.form.get("resource")).toBe(remote.url);
  expect(remote.resources()).toEqual([remote.url]);
});

test("a host's own provider has the tokens, and is asked for others", async () => {
  const { remote, cwd, left } = await makeSignIn();
  const tokens = { access_token: remote.issue("read").access_token, token_type: "Bearer" };
  const asked: unknown[] = [];
  const provider = {
    tokens: () => tokens,
    clientInformation: () => undefined,
    get clientMetadata(): never {
      asked.push("metadata");
      throw new Error("no");
    },
  };
  const authProvider = (label: string, url: URL) => {
    asked.push([label, url.href]);
    return provider;
  };
  const config = { mcpServers: { docs: { url: remote.url } } };
  const session = await openForTest(cwd, { config, authProvider });
  expect(await session.callTool("docs/echo", {})).toMatchObject({ variant: "Success" });
  remote.revoke();
  expect(await session.callTool("docs/echo", {})).toMatchObject({ variant: "ExceptionThrown" });
  expect([asked, left()]).toEqual([[["docs", remote.url], "metadata"], []]);
});
