// The client that the conformance suite starts with a server's URL: signs in with the command, and calls what it finds.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const {
  MCP_CONFORMANCE_SCENARIO: scenario = "",
  MCP_CONFORMANCE_CONTEXT: context = "{}",
  COMMAND,
} = process.env;
const url = process.argv.at(-1);
const { client_id: clientId, client_secret: secret } = JSON.parse(context);
const oauth = {
  clientId,
  ...(secret && { clientSecret: "$" + "{SECRET}" }),
  ...(scenario.includes("cimd") && {
    clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
  }),
  ...(scenario.includes("client-credentials") && { grant: "client_credentials" }),
};
const cwd = mkdtempSync(join(tmpdir(), "trailblaze-sign-in-"));
const browser = join(cwd, "browser");
writeFileSync(
  browser,
  `#!${process.execPath}\nfetch(process.argv[2]).then((page) => page.text()).catch(() => {});\n`,
);
chmodSync(browser, 0o755);
writeFileSync(join(cwd, "package.json"), "{}");
writeFileSync(join(cwd, "trailblaze.config.json"), JSON.stringify({ mcpServers: { s: { url, oauth } } }));
const env = {
  ...process.env,
  HOME: cwd,
  XDG_STATE_HOME: join(cwd, "state"),
  BROWSER: browser,
  SECRET: secret,
};

/** Runs a command; what it says is for the suite's output. */
function run(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...args], {
    cwd,
    env,
    encoding: "utf8",
  });
  process.stdout.write(`${args.join(" ")} ${status}\n${stdout}${stderr}`);
  return { isDone: status === 0, said: stdout + stderr };
}
const logIn = (...scopes) => run("login", "s", "--timeout", "20", ...scopes).isDone;

/** Calls the first tool. Where the server wants another sign-in or more scopes, does what the hint says, once. */
function call(mayRetry = true) {
  const listed = run("tools", "--json");
  const [, name = "none"] = /"name": "([^"]+)",\s+"qualifiedName"/.exec(listed.said) ?? [];
  const called = run("call", name);
  const [hint, scopes] = /trailblaze login s(?: --scope "([^"]+)")?/.exec(listed.said + called.said) ?? [];
  if (hint === undefined || !mayRetry) return called.isDone;
  return logIn(...(scopes === undefined ? [] : ["--scope", scopes])) && call(false);
}

const isDone = ("grant" in oauth || logIn()) && call();
rmSync(cwd, { recursive: true });
process.exitCode = isDone ? 0 : 1;
