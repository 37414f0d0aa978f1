import { isRecord } from "../../data/parse-json.ts";
import { createProblem, failure, type Problem } from "../../problems/index.ts";
import { countCharacters } from "../../problems/text.ts";
import { type ExportedServer, npxArguments, programOf, requireBin } from "./exported-server.ts";

export interface ExportOptions {
  name?: string | undefined;
  description?: string | undefined;
}

interface Export {
  /** Texts, or what is written as JSON, by paths relative to the folder of the export. */
  files: Readonly<Record<string, string | object>>;
  problems: Problem[];
}

/** How a server is exported. Throws `TrailblazeError` with a code of exports. */
type Format = (server: ExportedServer, options: ExportOptions) => Export;

const textOf = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);

/** The text if it is an address for browsers; formats reject others. */
const addressOf = (value: unknown): string | undefined =>
  typeof value === "string" && /^https?:\/\/[^\s"<>\\^`{|}]+$/.test(value) && URL.canParse(value)
    ? value
    : undefined;

/** The address of the repository, if package.json has one for browsers. */
function repositoryOf({ repository }: Readonly<Record<string, unknown>>): string | undefined {
  const written = isRecord(repository) ? repository.url : repository;
  if (typeof written !== "string") return undefined;
  const short = /^(?:github:)?([\w.-]+\/[\w.-]+)$/.exec(written)?.[1];
  const url =
    short === undefined ? written.replace(/^git\+/, "").replace(/\.git$/, "") : `https://github.com/${short}`;
  return url.startsWith("https://") ? addressOf(url) : undefined;
}

function authorOf({ author }: Readonly<Record<string, unknown>>): object | undefined {
  const [, writtenName, writtenEmail, writtenUrl] =
    typeof author === "string"
      ? (/^([^<(]*?)\s*(?:<([^>]*)>)?\s*(?:\(([^)]*)\))?\s*$/.exec(author) ?? [])
      : [];
  const { name, email, url } = isRecord(author)
    ? author
    : { name: writtenName, email: writtenEmail, url: writtenUrl };
  const known = textOf(name);
  return known === undefined ? undefined : { name: known, email: textOf(email), url: textOf(url) };
}

/** The texts of package.json that plugins repeat. */
const describeManifest = ({ manifest, version, description }: ExportedServer, options: ExportOptions) => ({
  version,
  description: options.description || description,
  author: authorOf(manifest),
  homepage: addressOf(manifest.homepage),
  repository: repositoryOf(manifest),
  license: textOf(manifest.license),
  keywords: Array.isArray(manifest.keywords)
    ? manifest.keywords.filter((one) => typeof one === "string")
    : undefined,
});

/** A name for a format. Throws `ExportNameUnusable`. */
function chooseName(server: ExportedServer, separator: string, pattern: RegExp, rule: string, name?: string) {
  const { publisher, shortName } = server;
  const wanted = publisher === undefined ? shortName : `${publisher}${separator}${shortName}`;
  const chosen = name ?? wanted.toLowerCase();
  if (chosen.length > 64 || !pattern.test(chosen))
    throw failure("ExportNameUnusable", { name: chosen, rule });
  return chosen;
}

/** What the user of an export gives for a variable. */
const describeVariable = (name: string, { key }: ExportedServer): string =>
  `The environment variable ${name} of the MCP server ${key}.`;

const launchOf = (server: ExportedServer, folder: string) => ({
  command: "npx",
  args: npxArguments(server, server.version, folder),
});

const agentPlugin: Format = (server, options) => {
  const rule =
    "lowercase letters, digits, hyphens and periods, not two hyphens or periods in a row, at most 64";
  const pattern = /^(?!.*(?:--|\.\.))[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/;
  const name = chooseName(server, ".", pattern, rule, options.name);
  const schemaOf = (file: string) => `https://agent-plugins.org/schemas/1.0.0/${file}.schema.json`;
  return {
    files: {
      "plugin.json": {
        $schema: schemaOf("plugin"),
        name,
        ...describeManifest(server, options),
        extensions: { "trailblaze.export": { server: server.qualifiedName } },
      },
      "mcp.json": {
        $schema: schemaOf("mcp"),
        mcpServers: { [server.key]: { type: "stdio", ...launchOf(server, "${PLUGIN_DATA}") } },
      },
    },
    problems: server.variables.map(({ name: variable }) =>
      createProblem("EnvironmentNotExported", { name: variable, format: "agent-plugin" }),
    ),
  };
};

const claudePlugin: Format = (server, options) => {
  const pattern = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
  const rule = "lowercase letters and digits, with single hyphens between them, at most 64";
  const name = chooseName(server, "-", pattern, rule, options.name);
  const { hosts } = server;
  const isUsable = (one: { name: string }) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(one.name);
  const variables = server.variables.filter(isUsable);
  const byName = (describe: (title: string, isSecret: boolean) => unknown) =>
    variables.length === 0
      ? undefined
      : Object.fromEntries(variables.map((one) => [one.name, describe(one.name, one.isSecret)]));
  const env = byName((variable) => `\${user_config.${variable}}`);
  return {
    files: {
      ".claude-plugin/plugin.json": {
        name,
        ...describeManifest(server, options),
        mcpServers: { [server.key]: { ...launchOf(server, "${CLAUDE_PLUGIN_DATA}"), env } },
        userConfig: byName((title, sensitive) => {
          return { type: "string", title, description: describeVariable(title, server), sensitive };
        }),
        network: hosts.length === 0 ? undefined : { hosts },
      },
    },
    problems: server.variables
      .filter((one) => !isUsable(one))
      .map((one) => createProblem("EnvironmentNotExported", { name: one.name, format: "claude-plugin" })),
  };
};

const mostCharacters = 100;

const serverJson: Format = (server, options) => {
  const { version, manifest } = server;
  const mcpName = typeof manifest.mcpName === "string" ? manifest.mcpName : undefined;
  if (mcpName === undefined || !/^(?=.{1,200}$)[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/.test(mcpName))
    throw failure("ExportNeedsMcpName", { mcpName });
  const description = options.description ?? server.description ?? "";
  const length = countCharacters(description);
  if (length > mostCharacters || length === 0)
    throw failure("ExportDescriptionTooLong", { length, most: mostCharacters });
  requireBin(server);
  if (server.bin?.isDefault !== true)
    throw failure("ExportNeedsBin", { name: server.qualifiedName, server: server.name, isDefault: false });
  const [homepage, repository] = [addressOf(manifest.homepage), repositoryOf(manifest)];
  const source = /^https:\/\/(github|gitlab)\.com\//.exec(repository ?? "")?.[1];
  const environmentVariables = server.variables.map(({ name, isSecret }) => {
    return { name, description: describeVariable(name, server), isSecret };
  });
  const runtime = {
    registryType: "npm",
    identifier: server.pack,
    version,
    runtimeHint: "npx",
    transport: { type: "stdio" },
    environmentVariables: environmentVariables.length === 0 ? undefined : environmentVariables,
  };
  return {
    files: {
      "server.json": {
        $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        name: mcpName,
        description,
        version,
        repository: source && { url: repository, source },
        websiteUrl: homepage?.startsWith("https://") ? homepage : undefined,
        packages: [runtime],
        _meta: { "io.modelcontextprotocol.registry/publisher-provided": { tool: "trailblaze export" } },
      },
    },
    problems: [],
  };
};

/** The program of a server, which a command of package.json starts. */
const bin: Format = (server) => ({
  files: {
    [programOf(server.name)]: `#!/usr/bin/env node
// Written by \`trailblaze export bin\`.
import { fileURLToPath } from "node:url";
import { startServer } from "trailblaze/serve";

const cwd = fileURLToPath(new URL("..", import.meta.url));
try {
  await startServer(${JSON.stringify(server.qualifiedName)}, { cwd, transport: "stdio" });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
`,
  },
  problems: [],
});

export const formats: Readonly<Record<string, Format>> = {
  bin,
  "agent-plugin": agentPlugin,
  "claude-plugin": claudePlugin,
  "server.json": serverJson,
};
