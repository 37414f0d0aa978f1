import { isRecord } from "../../data/parse-json.ts";
import { createProblem, failure, type Problem } from "../../problems/index.ts";
import { countCharacters } from "../../problems/text.ts";
import {
  type ExportedServer,
  npxArguments,
  programOf,
  requireBin,
  type UserVariable,
} from "./exported-server.ts";

/** A file of an export. */
export interface ExportedFile {
  /** Relative to the folder of the export, with `/`. */
  path: string;
  text: string;
}

export interface ExportOptions {
  name?: string | undefined;
  description?: string | undefined;
}

interface Export {
  files: ExportedFile[];
  problems: Problem[];
}

/** How a server is exported. Throws `TrailblazeError` with a code of exports. */
type Format = (server: ExportedServer, options: ExportOptions) => Export;

export const formatJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** The texts of package.json that formats repeat. */
function describeManifest({ manifest }: ExportedServer) {
  const { author, homepage, license, keywords } = manifest;
  const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);
  const [, writtenName, email, url] =
    typeof author === "string"
      ? (/^([^<(]*?)\s*(?:<([^>]*)>)?\s*(?:\(([^)]*)\))?\s*$/.exec(author) ?? [])
      : [];
  const person = isRecord(author) ? author : { name: writtenName, email, url };
  const known = ["name", "email", "url"].flatMap((key) => {
    const value = text(person[key as keyof typeof person]);
    return value === undefined ? [] : [[key, value] as const];
  });
  return {
    author: known.some(([key]) => key === "name") ? Object.fromEntries(known) : undefined,
    homepage: addressOf(homepage),
    repository: repositoryOf(manifest),
    license: text(license),
    keywords: Array.isArray(keywords) ? keywords.filter((one) => typeof one === "string") : undefined,
  };
}

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

/** A name for a format. Throws `ExportNameUnusable`. */
function chooseName(wanted: string, pattern: RegExp, rule: string, { name }: ExportOptions): string {
  const chosen = name ?? wanted;
  if (chosen.length > 64 || !pattern.test(chosen))
    throw failure("ExportNameUnusable", { name: chosen, rule });
  return chosen;
}

const joinName = ({ publisher, shortName }: ExportedServer, separator: string): string =>
  [...(publisher === undefined ? [] : [publisher]), shortName].join(separator).toLowerCase();

/** What the user of an export gives for a variable. */
const describeVariable = (name: string, { key }: ExportedServer): string =>
  `The environment variable ${name} of the MCP server ${key}.`;

const agentPlugin: Format = (server, options) => {
  const { version } = server;
  const rule =
    "lowercase letters, digits, hyphens and periods, not two hyphens or periods in a row, at most 64";
  const pattern = /^(?!.*(?:--|\.\.))[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/;
  const name = chooseName(joinName(server, "."), pattern, rule, options);
  requireBin(server);
  const { author, homepage, repository, license, keywords } = describeManifest(server);
  const schemaOf = (file: string) => `https://agent-plugins.org/schemas/1.0.0/${file}.schema.json`;
  const description = options.description || server.description;
  return {
    files: [
      {
        path: "plugin.json",
        text: formatJson({
          $schema: schemaOf("plugin"),
          name,
          version,
          description,
          author,
          homepage,
          repository,
          license,
          keywords,
          extensions: { "trailblaze.export": { server: server.qualifiedName } },
        }),
      },
      {
        path: "mcp.json",
        text: formatJson({
          $schema: schemaOf("mcp"),
          mcpServers: {
            [server.key]: {
              type: "stdio",
              command: "npx",
              args: npxArguments(server, version, "${PLUGIN_DATA}"),
            },
          },
        }),
      },
    ],
    problems: server.variables.map(({ name: variable }) =>
      createProblem("EnvironmentNotExported", { name: variable, format: "agent-plugin" }),
    ),
  };
};

const claudePlugin: Format = (server, options) => {
  const { version } = server;
  const pattern = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
  const rule = "lowercase letters and digits, with single hyphens between them, at most 64";
  const name = chooseName(joinName(server, "-"), pattern, rule, options);
  requireBin(server);
  const { author, homepage, repository, license, keywords } = describeManifest(server);
  const { hosts } = server;
  const isUsable = ({ name: variable }: UserVariable) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(variable);
  const variables = server.variables.filter(isUsable);
  const env = Object.fromEntries(variables.map((one) => [one.name, `\${user_config.${one.name}}`]));
  const userConfig = Object.fromEntries(
    variables.map(({ name: title, isSecret }) => [
      title,
      { type: "string", title, description: describeVariable(title, server), sensitive: isSecret },
    ]),
  );
  return {
    files: [
      {
        path: ".claude-plugin/plugin.json",
        text: formatJson({
          name,
          version,
          description: options.description || server.description,
          author,
          homepage,
          repository,
          license,
          keywords,
          mcpServers: {
            [server.key]: {
              command: "npx",
              args: npxArguments(server, version, "${CLAUDE_PLUGIN_DATA}"),
              env: variables.length === 0 ? undefined : env,
            },
          },
          userConfig: variables.length === 0 ? undefined : userConfig,
          network: hosts.length === 0 ? undefined : { hosts },
        }),
      },
    ],
    problems: server.variables
      .filter((one) => !isUsable(one))
      .map((one) => createProblem("EnvironmentNotExported", { name: one.name, format: "claude-plugin" })),
  };
};

const mostCharacters = 100;

const serverJson: Format = (server, options) => {
  const { version } = server;
  const { mcpName } = server.manifest;
  if (
    typeof mcpName !== "string" ||
    mcpName.length > 200 ||
    !/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/.test(mcpName)
  )
    throw failure("ExportNeedsMcpName", {
      mcpName: typeof mcpName === "string" ? mcpName : undefined,
    });
  const description = options.description ?? server.description ?? "";
  const length = countCharacters(description);
  if (length > mostCharacters || length === 0)
    throw failure("ExportDescriptionTooLong", { length, most: mostCharacters });
  requireBin(server);
  if (server.bin?.isDefault !== true)
    throw failure("ExportNeedsBin", { name: server.qualifiedName, server: server.name, isDefault: false });
  const { homepage, repository } = describeManifest(server);
  const source = /^https:\/\/(github|gitlab)\.com\//.exec(repository ?? "")?.[1];
  const environmentVariables = server.variables.map(({ name, isSecret }) => ({
    name,
    description: describeVariable(name, server),
    isSecret,
  }));
  return {
    files: [
      {
        path: "server.json",
        text: formatJson({
          $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
          name: mcpName,
          description,
          version,
          repository: source && { url: repository, source },
          websiteUrl: homepage?.startsWith("https://") ? homepage : undefined,
          packages: [
            {
              registryType: "npm",
              identifier: server.pack,
              version,
              runtimeHint: "npx",
              transport: { type: "stdio" },
              environmentVariables: environmentVariables.length === 0 ? undefined : environmentVariables,
            },
          ],
          _meta: {
            "io.modelcontextprotocol.registry/publisher-provided": { tool: "trailblaze export" },
          },
        }),
      },
    ],
    problems: [],
  };
};

/** The program of a server, which a command of package.json starts. */
const bin: Format = (server) => ({
  files: [
    {
      path: programOf(server.name),
      text: `#!/usr/bin/env node
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
  ],
  problems: [],
});

export const formats: Readonly<Record<string, Format>> = {
  bin,
  "agent-plugin": agentPlugin,
  "claude-plugin": claudePlugin,
  "server.json": serverJson,
};
