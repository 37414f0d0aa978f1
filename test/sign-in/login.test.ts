import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { createIssuerFetch } from "../../src/sign-in/issuer.ts";
import type { Behavior } from "../support/authorization-server.ts";
import { listen } from "../support/listen.ts";
import { command } from "../support/run-cli.ts";
import { makeSignIn } from "./support.ts";

test("login signs in through the browser, stores tokens for the user alone, and logout deletes them", async () => {
  const { remote, run, login, file, folder, stored, left } = await makeSignIn();
  const result = await login();
  expect(result).toMatchObject({ exitCode: 0 });
  const { url, origin } = remote;
  const { expiresAt, ...answer } = JSON.parse(result.stdout);
  expect(answer).toEqual({ label: "docs", url, issuer: origin, scopes: ["read"] });
  expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(3_500_000);
  expect(result.stderr).toMatch(new RegExp(`^${origin}/authorize\\?`, "m"));
  expect(stored()).toMatchObject({ issuer: origin, metadata: { token_endpoint: `${origin}/token` } });
  expect([statSync(file).mode & 0o777, statSync(folder).mode & 0o777]).toEqual([0o600, 0o700]);
  for (const secret of [...remote.tokens(), stored().tokens.access_token])
    expect(result.stdout + result.stderr).not.toContain(secret);
  const [authorized, redeemed] = [remote.to("/authorize"), remote.to("/token")];
  expect([authorized.length, redeemed.length]).toEqual([1, 1]);
  expect(redeemed[0]?.form.get("resource")).toBe(url);

  const again = await login("--scope", "a b", "--scope", "c");
  expect(JSON.parse(again.stdout).scopes).toEqual(["a", "b", "c"]);
  expect(remote.to("/register")).toHaveLength(1);
  expect((await run(["login", "docs"])).stdout).toMatch(/^Signed in to docs: \S+ granted read until \S+\n$/);

  expect(JSON.parse((await run(["logout", "docs", "--json"])).stdout)).toEqual({
    label: "docs",
    url,
    changed: true,
  });
  expect(JSON.parse((await run(["logout", url, "--json"])).stdout)).toEqual({
    label: null,
    url,
    changed: false,
  });
  expect(left()).toEqual([]);
});

type Answer = NonNullable<Behavior["token"]>;
const away = "http://192.0.2.1/away";
const redirected: Answer = (_, response) =>
  Boolean(response.writeHead(307, { location: "https://other.example/" }).end());
const refused: Answer = (form, response) => {
  const error = {
    error: "invalid_grant",
    error_description: `${form.get("code")} ${form.get("code_verifier")}`,
  };
  return Boolean(response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify(error)));
};
const huge: Answer = (_, response) => Boolean(response.writeHead(200).end("x".repeat(2 << 20)));

test.each<[reason: string, Partial<Behavior>, entry?: object]>([
  ["denied", { answer: { error: "access_denied", error_description: "not \u001b[31mtoday" } }],
  ["issuer", { iss: "https://shown_by_nobody.example", answer: { error: "shown_by_nobody" } }],
  ["issuer", { iss: undefined, changes: { authorization_response_iss_parameter_supported: true } }],
  ["issuer", {}, { oauth: { issuer: "https://other.example" } }],
  ["issuer", { changes: { issuer: "https://other.example" } }],
  ["endpoint", { changes: { token_endpoint: away } }],
  ["endpoint", { changes: { authorization_endpoint: away } }],
  ["endpoint", { changes: { registration_endpoint: away } }],
  ["endpoint", { challenge: `resource_metadata="${away}"` }],
  ["endpoint", { token: redirected }],
  ["resource", { resource: "https://other.example/mcp" }],
  ["pkce", { changes: { code_challenge_methods_supported: undefined } }],
  ["pkce", { changes: { code_challenge_methods_supported: ["plain"] } }],
  ["registration", { changes: { registration_endpoint: undefined } }],
  [
    "registration",
    { changes: { client_id_metadata_document_supported: true } },
    { oauth: { clientMetadataUrl: "https://client.example/?document" } },
  ],
  ["exchange", { token: refused }],
  ["exchange", { token: huge }],
])(
  "a sign-in that fails with %s stores nothing, and tells no secret (%#)",
  async (reason, behavior, entry) => {
    const { remote, run, login, stored } = await makeSignIn(behavior, entry);
    const { exitCode, stdout, stderr } = await login();
    expect({ exitCode, ...JSON.parse(stdout).error }).toMatchObject({
      exitCode: 1,
      code: "SignInFailed",
      args: { label: "docs", reason },
    });
    expect(stored()).toBeUndefined();
    for (const { form } of remote.to("/token"))
      for (const secret of [form.get("code"), form.get("code_verifier")])
        expect(stdout + stderr).not.toContain(secret);
    expect(stdout + stderr).not.toMatch(/shown_by_nobody|\u001b/);
    if (reason === "pkce") expect(remote.to("/register")).toEqual([]);
    expect((await run(["logout", "docs", "--json"])).stdout).toMatch(/"changed": false/);
  },
);

test("an answer that breaks off is not taken for what has arrived", async () => {
  const head = "HTTP/1.1 404 Not Found\r\ncontent-length: 9\r\n\r\n{";
  const server = createServer((socket) => void socket.once("data", () => socket.end(head)));
  const { port } = await listen(server);
  await expect(createIssuerFetch("docs")(`http://127.0.0.1:${port}`)).rejects.toThrow(TypeError);
});

test("without --no-browser the answer must come in time, and only its own ends the wait", async () => {
  const { remote, run, cwd } = await makeSignIn();
  const args = ["login", "docs", "--json", "--timeout", "4"];
  // The program asks the listener for what is not the answer.
  writeFileSync(
    join(cwd, "browser"),
    `#!${process.execPath}
const asked = new URL(process.argv[2]).searchParams;
const [redirect, state] = [new URL(asked.get("redirect_uri")), asked.get("state")];
const { get } = require("node:http");
const ask = (path, host = redirect.host) => new Promise((resolve) => {
  get({ host: redirect.hostname, port: redirect.port, path, headers: { host } }, (answer) => resolve(answer.resume().statusCode));
});
(async () => {
  const all = [await ask("/callback?code=a&state=" + state, "evil.example"), await ask("/other?state=" + state), await ask("/callback?code=a&state=b")];
  require("node:fs").writeFileSync("${join(cwd, "statuses")}", JSON.stringify(all));
})();`,
    { mode: 0o755 },
  );
  const { stdout, exitCode } = await run(args, "", () => {});
  expect({ exitCode, ...JSON.parse(stdout).error }).toMatchObject({
    exitCode: 1,
    args: { reason: "timeout" },
  });
  expect(JSON.parse(readFileSync(join(cwd, "statuses"), "utf8"))).toEqual([403, 404, 400]);
  expect(remote.to("/token")).toEqual([]);
});

test("--no-browser reads the redirect URL from stdin, and a sign-in that fails keeps the one before", async () => {
  const { remote, run, stored, direct } = await makeSignIn();
  const pasted = async (change: (url: URL) => void) => {
    let redirected = "";
    const show = async (address: string) => {
      const { headers } = await fetch(address, { redirect: "manual" });
      const url = new URL(headers.get("location") ?? "");
      change(url);
      redirected = url.href;
    };
    const readPasted = () => vi.waitUntil(() => redirected || undefined);
    return direct({ readPasted, show: (address) => void show(address) });
  };
  expect(await pasted(() => {})).toMatchObject({ issuer: remote.origin });
  const before = stored();
  const state = { problem: { args: { reason: "state" } } };
  await expect(pasted((url) => url.searchParams.set("state", "b"))).rejects.toMatchObject(state);
  expect(stored()).toEqual(before);
  const { stdout } = await run(["login", "docs", "--no-browser", "--json"], "nothing\n");
  expect(JSON.parse(stdout).error.args.reason).toBe("state");
});

test("two logins at once both succeed, and an interruption ends one at once", async () => {
  const { left, direct } = await makeSignIn({ expiresIn: 1e300 });
  const records = await Promise.all([direct({}), direct({})]);
  expect(records.map((record) => record?.tokens?.lifeMs)).toEqual([null, null]);
  expect(left()).toHaveLength(1);
  const interruption = new AbortController();
  const show = () => interruption.abort(new Error("interrupted"));
  await expect(direct({ signal: interruption.signal, show })).rejects.toThrow("interrupted");
});

test("SIGINT ends the command at once", async () => {
  const { cwd, env, left } = await makeSignIn();
  const child = spawn(process.execPath, [command, "login", "docs", "--no-browser"], {
    cwd,
    env: { ...process.env, ...env },
  });
  await once(child.stderr, "data");
  child.kill("SIGINT");
  expect(await once(child, "exit")).toEqual([130, null]);
  expect(left()).toEqual([]);
});

test("a file that cannot be written fails the sign-in, and so does a server that changes its issuer", async () => {
  const oauth = { clientId: "me", clientSecret: "hunter2-hunter2" };
  const { remote, login, stored, file, change } = await makeSignIn({}, { oauth });
  mkdirSync(file, { recursive: true });
  const { exitCode, stdout } = await login();
  expect([exitCode, JSON.parse(stdout).error.args.reason, remote.to("/token").length]).toEqual([
    1,
    "exchange",
    1,
  ]);
  rmdirSync(file);
  await login();
  const issuer = "https://old.example";
  const before = change({}, { issuer, metadata: { ...stored().metadata, issuer } });
  expect(JSON.parse((await login()).stdout).error.args.reason).toBe("issuer");
  expect([stored(), remote.to("/token").length]).toEqual([before, 2]);
});

test("a port that is taken fails a fixed redirect, and registers anew otherwise", async () => {
  // The issuer knows no documents of clients.
  const oauth = { clientMetadataUrl: "https://client.example/document.json", scopes: ["x"] };
  const { remote, login: signIn, stored, cwd } = await makeSignIn({}, { oauth });
  await signIn();
  expect(JSON.parse((await signIn("--scope", "")).stdout).scopes).toEqual(["x"]);
  expect(remote.to("/register")).toHaveLength(1);
  const { port } = new URL(stored().redirectUrl);
  await listen(createServer(), Number(port));
  expect(await signIn()).toMatchObject({ exitCode: 0 });
  expect(remote.to("/register")).toHaveLength(2);
  const docs = { url: remote.url, oauth: { callbackPort: Number(port) } };
  writeFileSync(join(cwd, "trailblaze.config.yaml"), JSON.stringify({ mcpServers: { docs } }));
  expect(JSON.parse((await signIn()).stdout).error.args.reason).toBe("port");
});

test.each<[string, object, string]>([
  ["an unknown label", {}, "ServerNotFound"],
  ["a program", { command: "node" }, "InvalidArguments"],
  ["a header of its own", { url: "https://a.example", headers: { authorization: "x" } }, "InvalidArguments"],
  ["`oauth` of a program", { command: "node", oauth: {} }, "InvalidConfig"],
  [
    "`oauth` beside a header",
    { url: "https://a.example", headers: { authorization: "x" }, oauth: {} },
    "InvalidConfig",
  ],
  ...[
    { unknown: 1 },
    { redirectUrl: "http://127.0.0.1:1/a", callbackPort: 1 },
    { clientSecret: "${A}" },
    { grant: "client_credentials", clientId: "a" },
    { clientMetadataUrl: "http://a.example/b" },
    { clientId: "${env:A}" },
  ].map((oauth): [string, object, string] => [
    JSON.stringify(oauth),
    { url: "https://a.example", oauth },
    "InvalidConfig",
  ]),
])("login refuses %s", async (_, entry, code) => {
  const { run, cwd } = await makeSignIn();
  writeFileSync(
    join(cwd, "trailblaze.config.yaml"),
    JSON.stringify({ mcpServers: code === "ServerNotFound" ? {} : { docs: entry } }),
  );
  expect(JSON.parse((await run(["login", "docs", "--json"])).stdout).error.code).toBe(code);
});

test("a server that asks for nothing needs no sign-in", async () => {
  const { login: signIn, left } = await makeSignIn({ isProtected: false, hasResourceMetadata: false });
  const { exitCode, stdout } = await signIn();
  expect([exitCode, JSON.parse(stdout).issuer, left()]).toEqual([0, null, []]);
});
