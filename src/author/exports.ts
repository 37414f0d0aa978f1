import { join, resolve } from "node:path";
import { isRecord } from "../data/parse-json.ts";
import { type Edit, isChange, planEdit, readTextFile } from "../files/edit.ts";
import { pathIn } from "../files/inspection-port.ts";
import type { InspectedItem } from "../inspection/types.ts";
import { ConfigDocument } from "../install/editing/config-document.ts";
import type { JsonValue } from "../install/editing/config-format.ts";
import { isSecretName } from "../install/secrets.ts";
import { type DescribedPack, readHttps, readRepository } from "../pages/describe-packs.ts";
import { createProblem, failure, quote } from "../problems/index.ts";
import { countCharacters } from "../problems/text.ts";
import { unknownName } from "../qualified-names/nearest-names.ts";
import { readBins } from "../qualified-names/reserved-commands.ts";
import { hostVersion } from "../version.ts";

const textIn = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value : undefined;

/** The path of a server's program in the package, relative and with `/`. */
const programOf = (server: string): string => `bin/${server}.mjs`;

const withoutDot = (path: string): string => path.replace(/^\.\//, "");

/** The command that starts a server as its definition says: by the program that Trailblaze writes, or by its own script. */
function findBin(
  { declaration, definition }: InspectedItem,
  bins: ReadonlyMap<string, string>,
  shortName: string,
): string | undefined {
  const { script, args, env, cwd } = definition ?? {};
  const isPlain = [args, env, cwd].every((value) => value === undefined);
  const programs = [programOf(declaration.name), isPlain ? withoutDot(textIn(script) ?? "") : ""];
  const names = [...bins].filter(([, path]) => programs.includes(withoutDot(path))).map(([name]) => name);
  return names.find((name) => name === shortName) ?? names[0];
}

/** Without a name, the only server. Throws `TrailblazeError`: `ServerNotFound`, and `AmbiguousName` if the pack has several. */
function findServer({ items, pack }: DescribedPack, name: string | undefined): InspectedItem {
  const servers = items.filter(({ declaration }) => declaration.kind === "server");
  const names = servers.map(({ declaration }) => declaration.name);
  if (name === undefined && servers.length > 1)
    throw failure("AmbiguousName", { name: pack.name, kinds: ["server"], servers: names });
  const wanted = [name ?? names[0], name?.replace(/^@/, "")];
  const server = servers.find(
    ({ declaration, qualifiedName }) => wanted.includes(declaration.name) || wanted.includes(qualifiedName),
  );
  if (server !== undefined) return server;
  const reason = name === undefined ? "The pack has no servers." : undefined;
  throw unknownName("ServerNotFound", name ?? "", names, { name: name ?? pack.name, reason });
}

export interface ExportOptions {
  name?: string | undefined;
  description?: string | undefined;
  /** Absolute. Default: the folder of the package. */
  out?: string | undefined;
  force: boolean;
}

/** What formats say of a server of the pack. Throws as `findServer` does, and `InvalidArguments` without a version. */
function describeServer(pack: DescribedPack, serverName: string | undefined, options: ExportOptions) {
  const item = findServer(pack, serverName);
  const { value: manifest } = pack.manifest;
  const { name: packName, version, needs } = pack.pack;
  if (version === null) {
    const reason = `${quote(packName)} has no version, so nothing could start it`;
    throw failure("InvalidArguments", { reason, hint: 'Add "version" to package.json.' });
  }
  const [, publisher, shortName = packName] = /^(?:@([^/]+)\/)?(.+)$/.exec(packName) ?? [];
  const { name, description } = item.declaration;
  const { envPassthrough, mcpServerName } = item.definition ?? {};
  const bins = readBins(packName, manifest);
  const passed: unknown[] = Array.isArray(envPassthrough) ? envPassthrough : [];
  return {
    manifest,
    packName,
    publisher,
    shortName,
    version,
    description: options.description ?? textIn(manifest.description) ?? textIn(description),
    /** Of the plugin, if the user has chosen one. */
    chosenName: options.name,
    name,
    qualifiedName: item.qualifiedName,
    /** In configs of clients. */
    key: textIn(mcpServerName) ?? name,
    bins,
    /** The command of package.json that starts it. */
    bin: findBin(item, bins, shortName),
    variables: passed.filter((variable) => typeof variable === "string"),
    hosts: needs?.network ?? [],
  };
}

type ExportedServer = ReturnType<typeof describeServer>;

/** The name of the command that starts a server. Throws `ExportNeedsBin`. */
function requireBin({ bin, qualifiedName: name, name: server }: ExportedServer): string {
  if (bin === undefined) throw failure("ExportNeedsBin", { name, server, isDefault: true });
  return bin;
}

type Format = (server: ExportedServer) => {
  /** Texts, or what is written as JSON, by paths relative to the folder of the export. */
  files: Readonly<Record<string, string | object>>;
  /** The variables for which the format has no place. */
  unplaced?: readonly string[];
};

function describeManifest({ manifest, version, description }: ExportedServer) {
  const { author, keywords } = manifest;
  const { name, email, url } = isRecord(author) ? author : { name: author };
  return {
    version,
    description,
    author: textIn(name) && { name, email: textIn(email), url: textIn(url) },
    homepage: readHttps(manifest.homepage),
    repository: readRepository(manifest.repository),
    license: textIn(manifest.license),
    keywords: Array.isArray(keywords) ? keywords.filter(textIn) : undefined,
  };
}

/** A name for a format. Throws `ExportNameUnusable`. */
function chooseName(
  { publisher, shortName, chosenName }: ExportedServer,
  separator: string,
  pattern: RegExp,
  rule: string,
) {
  const chosen = chosenName ?? [publisher, shortName].filter(Boolean).join(separator).toLowerCase();
  if (chosen.length > 64 || !pattern.test(chosen))
    throw failure("ExportNameUnusable", { name: chosen, rule });
  return chosen;
}

const describeVariable = (name: string, { key }: ExportedServer): string =>
  `The environment variable ${name} of the MCP server ${key}.`;

const launchOf = (server: ExportedServer, folder: string) => ({
  command: "npx",
  args: ["-y", "--prefix", folder, `--package=${server.packName}@${server.version}`, requireBin(server)],
});

const agentPlugin: Format = (server) => {
  const rule =
    "lowercase letters, digits, hyphens and periods, not two hyphens or periods in a row, at most 64";
  const pattern = /^(?!.*(?:--|\.\.))[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/;
  const name = chooseName(server, ".", pattern, rule);
  const schemaOf = (file: string) => `https://agent-plugins.org/schemas/1.0.0/${file}.schema.json`;
  return {
    files: {
      "plugin.json": {
        $schema: schemaOf("plugin"),
        name,
        ...describeManifest(server),
        extensions: { "trailblaze.export": { server: server.qualifiedName } },
      },
      "mcp.json": {
        $schema: schemaOf("mcp"),
        mcpServers: { [server.key]: { type: "stdio", ...launchOf(server, "${PLUGIN_DATA}") } },
      },
    },
    unplaced: server.variables,
  };
};

const claudePlugin: Format = (server) => {
  const pattern = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
  const rule = "lowercase letters and digits, with single hyphens between them, at most 64";
  const { key, hosts, variables } = server;
  const isUsable = (variable: string) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(variable);
  const usable = variables.filter(isUsable);
  const byName = (describe: (variable: string) => unknown) =>
    usable.length > 0
      ? Object.fromEntries(usable.map((variable) => [variable, describe(variable)]))
      : undefined;
  return {
    files: {
      ".claude-plugin/plugin.json": {
        name: chooseName(server, "-", pattern, rule),
        ...describeManifest(server),
        mcpServers: {
          [key]: {
            ...launchOf(server, "${CLAUDE_PLUGIN_DATA}"),
            env: byName((variable) => `\${user_config.${variable}}`),
          },
        },
        userConfig: byName((variable) => ({
          type: "string",
          title: variable,
          description: describeVariable(variable, server),
          sensitive: isSecretName(variable),
        })),
        network: hosts.length === 0 ? undefined : { hosts },
      },
    },
    unplaced: variables.filter((variable) => !isUsable(variable)),
  };
};

const mostCharacters = 100;

const serverJson: Format = (server) => {
  const { version, manifest, description = "" } = server;
  const mcpName = typeof manifest.mcpName === "string" ? manifest.mcpName : undefined;
  if (mcpName === undefined || !/^(?=.{1,200}$)[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/.test(mcpName))
    throw failure("ExportNeedsMcpName", { mcpName });
  const length = countCharacters(description);
  if (length > mostCharacters || length === 0)
    throw failure("ExportDescriptionTooLong", { length, most: mostCharacters });
  // npx runs the only command, or the one with the package's name.
  const isDefault = requireBin(server) === server.shortName || server.bins.size === 1;
  if (!isDefault)
    throw failure("ExportNeedsBin", { name: server.qualifiedName, server: server.name, isDefault });
  const repository = readRepository(manifest.repository);
  const source = /^https:\/\/(github|gitlab)\.com\//.exec(repository ?? "")?.[1];
  const environmentVariables = server.variables.map((name) => {
    return { name, description: describeVariable(name, server), isSecret: isSecretName(name) };
  });
  const runtime = {
    registryType: "npm",
    identifier: server.packName,
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
        websiteUrl: readHttps(manifest.homepage),
        packages: [runtime],
      },
    },
  };
};

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
});

const formats: Readonly<Record<string, Format>> = {
  bin,
  "agent-plugin": agentPlugin,
  "claude-plugin": claudePlugin,
  "server.json": serverJson,
};

/** Adds a command for the program, the host, and the files to publish; all else stays. Throws `ExportConflict`. */
function planManifest(
  { manifest, shortName, name, bins }: ExportedServer,
  file: string,
  { isProgram, published, force }: { isProgram: boolean; published: readonly string[]; force: boolean },
): Edit {
  const { bin, dependencies = {}, files } = manifest;
  const shown = { file: "package.json" };
  const changes: Record<string, unknown> = {};
  const program = programOf(name);
  if (isProgram && ![...bins.values()].some((path) => withoutDot(path) === program)) {
    // The first command has the name of the package, so that npx runs it.
    const command = bins.size === 0 ? shortName : `${shortName}-${name}`;
    const commands = isRecord(bin) ? bin : Object.fromEntries(bins);
    // npm also takes a list, which has no place for it.
    if ((Object.hasOwn(commands, command) || Array.isArray(bin)) && !force)
      throw failure("ExportConflict", { ...shown, key: `bin.${command}` }, shown);
    changes.bin = { ...commands, [command]: program };
  }
  if (isProgram && isRecord(dependencies) && !Object.hasOwn(dependencies, "trailblaze"))
    changes.dependencies = { ...dependencies, trailblaze: `^${hostVersion}` };
  if (Array.isArray(files)) {
    const isPublished = (path: string) => files.some((entry) => `${path}/`.startsWith(`${entry}/`));
    const missing = published.filter((path) => !isPublished(path));
    if (missing.length > 0) changes.files = [...files, ...missing];
  }
  const before = readTextFile(file) ?? "";
  const after = Object.entries(changes).reduce((text, [key, value]) => {
    const config = new ConfigDocument(file, "json", text);
    return config.edit({ container: [], key }, value as JsonValue)?.text ?? text;
  }, before);
  return { file, before, after };
}

/**
 * Plans the export of a server of a pack; writes nothing. Paths of files are relative to the folder of the package, or absolute
 * outside it. Throws `TrailblazeError`: `InvalidArguments` for another format,
 * `ServerNotFound`, `AmbiguousName`, `ExportConflict`, and what the format demands.
 */
export function planExport(
  pack: DescribedPack,
  format: string,
  serverName: string | undefined,
  options: ExportOptions,
) {
  const invalid = (reason: string, hint: string) => failure("InvalidArguments", { reason, hint });
  const create = Object.hasOwn(formats, format) ? formats[format] : undefined;
  if (create === undefined)
    throw invalid(`Unknown format ${quote(format)}`, `Pass one of ${Object.keys(formats).join(", ")}.`);
  const { location } = pack.pack;
  const { out = location, force } = options;
  const isProgram = format === "bin";
  if (isProgram && out !== location)
    throw invalid("The program of a server belongs into its package", "Omit --out.");
  const server = describeServer(pack, serverName, options);
  const { files: contents, unplaced = [] } = create(server);
  const files = Object.entries(contents).map(([inside, content]) => {
    const path = resolve(out, inside);
    const text = typeof content === "string" ? content : `${JSON.stringify(content, null, 2)}\n`;
    const shown = pathIn(location, path) ?? path;
    const edit = { ...planEdit(path, text), mode: isProgram ? 0o755 : undefined };
    if (edit.before !== undefined && isChange(edit) && !force)
      throw failure("ExportConflict", { file: shown }, { file: shown });
    return { shown, edit };
  });
  const published = files.flatMap(({ edit }) => pathIn(location, edit.file) ?? []);
  const manifest = planManifest(server, join(location, "package.json"), { isProgram, published, force });
  return {
    server: server.qualifiedName,
    files: isChange(manifest) ? [...files, { shown: "package.json", edit: manifest }] : files,
    problems: unplaced.map((name) => createProblem("EnvironmentNotExported", { name, format })),
  };
}
