// Configs in the forms that the clients document, each with an entry of Trailblaze that `install` adds.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { findClient } from "../../src/install/clients/index.ts";
import { findCandidates } from "../../src/install/clients/locations.ts";
import { planImport } from "../../src/install/import-servers.ts";
import { makeInstallPlace } from "./install-place.ts";

const key = "sk-1f3c9a77";
const npx = { command: "npx", args: ["-y", "@upstash/context7-mcp"] };
const remote = { url: "https://mcp.example.com/mcp", headers: { Authorization: `Bearer ${key}` } };

interface Case {
  client: string;
  text: unknown;
  /** Servers of the config afterwards, without the secret, which is in the environment. */
  servers: Readonly<Record<string, object>>;
  variables?: readonly string[];
  skipped?: readonly object[];
}

const local = (env: object) => ({ command: "npx", args: ["-y", "@upstash/context7-mcp"], env });
const imported = {
  url: remote.url,
  headers: { Authorization: "${AUTHORIZATION}" },
};

const cases: readonly Case[] = [
  {
    client: "cursor",
    text: {
      mcpServers: {
        docs: { ...npx, env: { API_KEY: key, TOKEN: "${env:MY_TOKEN}" }, disabled: true },
        remote,
        here: { command: "node", args: ["${workspaceFolder}/server.js"] },
      },
    },
    servers: {
      docs: { ...local({ API_KEY: "${API_KEY}", TOKEN: "${MY_TOKEN}" }), enabled: false },
      remote: imported,
    },
    variables: ["API_KEY", "MY_TOKEN", "AUTHORIZATION"],
    skipped: [{ name: "here", reason: "unsupportedVariable" }],
  },
  {
    client: "codex",
    text: `model = "o4"

[mcp_servers.docs]
command = "npx"
args = ["-y", "@upstash/context7-mcp"]
env_vars = ["OTHER"]

[mcp_servers.docs.env]
API_KEY = "${key}"

[mcp_servers.off]
command = "npx"
enabled = false

[mcp_servers.remote]
url = "https://mcp.example.com/mcp"
bearer_token_env_var = "REMOTE_TOKEN"
env_http_headers = { "X-Team" = "TEAM" }
`,
    servers: {
      docs: local({ API_KEY: "${API_KEY}" }),
      off: { command: "npx", enabled: false },
      remote: {
        url: remote.url,
        headers: { Authorization: "Bearer ${REMOTE_TOKEN}", "X-Team": "${TEAM}" },
      },
    },
    variables: ["API_KEY", "REMOTE_TOKEN", "TEAM"],
  },
  {
    client: "goose",
    text: `GOOSE_PROVIDER: openai
extensions:
  developer:
    enabled: true
    type: builtin
    name: developer
  docs:
    enabled: true
    type: stdio
    name: docs
    cmd: npx
    args: ["-y", "@upstash/context7-mcp"]
    envs: { API_KEY: ${key} }
    env_keys: []
    timeout: 300
  remote:
    enabled: true
    type: streamable_http
    name: remote
    uri: https://mcp.example.com/mcp
    headers: { Authorization: "Bearer ${key}" }
`,
    servers: { docs: local({ API_KEY: "${API_KEY}" }), remote: imported },
    variables: ["API_KEY", "AUTHORIZATION"],
    skipped: [{ name: "developer", reason: "invalid" }],
  },
];

test.each(cases)(
  "an import adds the servers from the config of $client to the project's config, without secrets",
  async ({ client, text, ...expected }) => {
    const place = makeInstallPlace();
    const record = findClient(client);
    const environment = { platform: process.platform, environment: process.env, home: place.home };
    const [path = ""] = findCandidates(record, "user", environment, place.project);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof text === "string" ? text : JSON.stringify(text, null, 2));
    const { file, key: own } = await place.install(client, "acme/jira/project-management");
    const source = readFileSync(file, "utf8");

    const { added, skipped, variables, edit } = await planImport(client, {
      cwd: place.project,
      only: [],
      replace: false,
      readInput: () => Promise.reject(new Error("stdin is not read")),
    });
    expect(added).toEqual(Object.keys(expected.servers));
    expect(skipped.map(({ name, reason }) => ({ name, reason }))).toEqual([
      ...(expected.skipped ?? []),
      { name: own, reason: "self" },
    ]);
    expect(variables).toEqual(expected.variables ?? []);
    expect(edit.diff).not.toContain(key);

    await edit.apply();
    const config = readFileSync(join(place.project, edit.file), "utf8");
    expect(config).not.toContain(key);
    const before = { command: "node", args: ["x.js"] };
    expect(parse(config).mcpServers).toEqual({ own: before, ...expected.servers });
    expect(readFileSync(file, "utf8")).toBe(source);
  },
);
