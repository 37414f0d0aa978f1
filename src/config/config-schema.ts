// The single source of the config's checks, defaults and types, and of its JSON Schema.
import * as z from "zod/mini";
import { rule, ruleOfKeys, says } from "../extension-schema/shape-faults.ts";
import {
  composedKeys,
  itemNamePattern,
  limitMs,
  milliseconds,
  name,
  npmName,
  runKeys,
  text,
  toolAnnotations,
  version,
} from "../extension-schema/shared-schema.ts";
import { quote } from "../problems/index.ts";
import { explainInvalidItemName, packPattern } from "../qualified-names/item-name.ts";
import * as rules from "./config-rules.ts";

/** Adds what editors show. */
function document<Schema extends z.ZodMiniType>(schema: Schema, words: z.core.GlobalMeta): Schema {
  z.globalRegistry.add<z.ZodMiniType>(schema, words);
  return schema;
}

const optional = <Schema extends z.ZodMiniType>(schema: Schema, description: string, examples?: string[]) =>
  document(z.optional(schema), examples === undefined ? { description } : { description, examples });

const byDefault = <Schema extends z.ZodMiniType>(
  schema: Schema,
  value: z.core.util.NoUndefined<z.output<Schema>>,
  description: string,
) => document(z._default(schema, value), { description });

/** An object whose keys have defaults that also apply without it. */
const section = <Schema extends z.ZodMiniType>(schema: Schema, description: string) =>
  document(z.prefault(schema, {} as z.input<Schema>), { description });

/** A string that matches a pattern. `explain` returns what is wrong with any other, and a hint. */
const matching = (pattern: RegExp, explain?: (written: string) => string) =>
  z.string().check(z.regex(pattern, { error: ({ input }) => explain?.(String(input)) ?? "" }));

const pixels = z.int().check(z.minimum(1), z.maximum(100_000));
const itemName = matching(
  itemNamePattern,
  (written) => `is not a valid name: ${explainInvalidItemName(written)}`,
);
const references = z.array(name.check(rule(rules.explainBadReference)));

/** Spelled out because JSON Schema patterns have no flags. */
const platform = matching(
  /^(?:[Aa][Nn][Dd][Rr][Oo][Ii][Dd]|[Ii][Oo][Ss]|[Ww][Ee][Bb])$/,
  (written) => `must be ANDROID, IOS or WEB, but it is ${quote(written, 40)}`,
).check(z.toUpperCase());

const device = z.object({
  platform: optional(platform, "ANDROID, IOS or WEB, ignoring case.", ["ANDROID", "IOS", "WEB"]),
  widthPixels: optional(pixels, "The width of the screen in pixels."),
  heightPixels: optional(pixels, "The height of the screen in pixels."),
  driverType: optional(name, "The driver of the device, compared exactly with a tool's supportedDrivers."),
});

const pattern = matching(packPattern, (written) =>
  says(
    `is ${quote(written)}, which is not a valid pattern of one to three segments`,
    "Use publisher/pack or publisher/pack/item, where * matches any part of a segment.",
  ),
);
const patterns = z.array(pattern);
/** A kind, and what it is about: a pack, a server, or what a pack or a server has. */
const unlockedPattern = matching(
  /^(?:pack:@?[^/]+(?:\/[^/]+)?|server:@?[^/]+(?:\/[^/]+){0,2}|(?:tool|prompt|skill):@?[^/]+(?:\/[^/]+){1,2}|resource:@?[^/]+\/.+)$/,
  (written) =>
    says(
      `is ${quote(written)}, which is not a valid pattern of what needs no approval`,
      "Use tool:, prompt:, skill: or resource: before LABEL/name or publisher/pack/name (of a resource, the URI is the name), server:LABEL, server:publisher/pack/name, or pack:publisher/pack, where * matches any part of a segment.",
    ),
);
const packName = matching(/^(?:@?[A-Za-z0-9_~][\w.~-]*\/[\w~-][\w.~-]*|@?[A-Za-z0-9~][\w.~-]*)$/, (written) =>
  says(
    `is ${quote(written)}, which is not the name of a pack`,
    'Use "publisher/pack", or "pack" if the npm name has no scope.',
  ),
).check(z.overwrite((written) => written.replace(/^@/, "")));

const packs = z.object({
  allow: optional(
    patterns,
    "Packs and items to allow: publisher/pack or publisher/pack/item, where * matches any part of a segment. Without this key, everything is allowed.",
  ),
  deny: byDefault(patterns, [], "Packs and items to exclude. Takes precedence over allow."),
  transitive: byDefault(patterns, [], "Transitive packs to use: those that only other packages depend on."),
  onError: byDefault(
    z.enum(["skip", "fail"]),
    "skip",
    "What happens if an item has an error or a server does not start: skip excludes it, fail ends the session.",
  ),
  memory: byDefault(
    z.union([z.enum(["all", "none"]), z.record(packName, z.array(text))], {
      error: "all, none, or an object of arrays of keys by pack",
    }),
    "all",
    "Which memory the tools of packs see: all, none, or an array of keys per pack. Packs without an entry see none.",
  ),
  autoInstall: byDefault(patterns, [], "Packs that may be installed automatically if they are missing."),
});

const lock = z.object({
  frozen: byDefault(
    z.boolean(),
    false,
    "Whether anything that differs from trailblaze.lock is an error, also that there is none.",
  ),
  workspace: byDefault(z.boolean(), false, "Whether packs of the project and its workspace are locked too."),
  unlocked: byDefault(
    z.array(unlockedPattern),
    [],
    "What is used without approval: pack:publisher/pack, server:LABEL, server:publisher/pack/name, tool:LABEL/name or tool:publisher/pack/name, the same with prompt: and skill:, and with resource: and a URI. * matches any part of a segment.",
  ),
});

const composedServer = z
  .object({
    ...composedKeys(references),
    version,
    mcpServerName: optional(name, "The server's key in client configs."),
  })
  .check(ruleOfKeys(rules.explainEmptyServer));

const toolPatterns = z.array(name);

const calls = z.object({
  ask: byDefault(toolPatterns, [], "Tools whose calls the user is asked about, each before it runs."),
  deny: byDefault(toolPatterns, [], "Tools whose calls are denied. Takes precedence over ask."),
});

const toolOverride = z.object({
  name: optional(name, "Its name, before `prefix`."),
  title: optional(text, "Its title."),
  description: optional(text, "Its description."),
  annotations: optional(toolAnnotations(), "Annotations that replace its own, key by key."),
  arguments: optional(
    z.record(name, z.unknown()),
    "Arguments with fixed values, which models do not see and go with each call. `${NAME}` is not replaced in them.",
  ),
});

const results = z.object({
  maxChars: optional(
    z.union([z.literal(-1), z.int().check(z.minimum(100))], {
      error: "an integer from 100, or -1 for no limit",
    }),
    "At most how many characters a result has, or -1 for any number. The rest is kept in a file of the session, to which the result links.",
  ),
});

const headerValue = text.check(
  rule((value) => (/[\r\n\0]/.test(value) ? "contains a line break or a NUL character" : undefined)),
);

const oauth = z.object({
  clientId: optional(name, "The client that is registered with the issuer. Default: one is registered."),
  clientSecret: optional(name, "The secret of the client, as `${NAME}`."),
  clientMetadataUrl: optional(
    matching(/^https:\/\/[^/]+\/./, () =>
      says("is not an https URL of a document", "Use the URL of the client's metadata document."),
    ),
    "The https URL of a client metadata document, used if the issuer supports it.",
  ),
  issuer: optional(name, "The only issuer that is accepted."),
  scopes: optional(
    z.array(matching(/^\S+$/)),
    "The scopes to ask for. Default: those that the server names.",
  ),
  redirectUrl: optional(
    name.check(rule(rules.explainRedirect)),
    "The redirect URL of the client. Default: `http://127.0.0.1:<port>/callback`.",
  ),
  callbackPort: optional(
    z.int().check(z.minimum(1), z.maximum(65_535)),
    "The port of the redirect URL `http://localhost:<port>/callback`.",
  ),
  grant: optional(
    z.enum(["authorization_code", "client_credentials"]),
    "How tokens are granted: to a user who signs in (authorization_code, the default), or to the client itself.",
  ),
});

/** The keys that both forms of a user's server have. */
const serverKeys = {
  command: optional(name, "The program to run. It must speak MCP over stdin and stdout."),
  package: optional(
    npmName,
    "The npm name of an installed package whose command to run, resolved from the project.",
  ),
  args: byDefault(z.array(text), [], "The arguments."),
  cwd: byDefault(name, ".", "The working folder, relative to the folder of this file."),
  env: byDefault(
    z.record(
      z.string().check(rule(rules.explainVariableName)),
      z.union([text, z.object({ file: name })], { error: "a string, or { file: ./path }" }),
    ),
    {},
    "Environment variables to add to the inherited ones. `{ file: ./token }` is the text of a file, without its last line break.",
  ),
  envFile: optional(
    name,
    "A file of environment variables, relative to the folder of this file. They come before `env`, and fill `${NAME}`.",
  ),
  url: optional(
    name.check(rule(rules.explainUrl)),
    "The http or https URL of a remote server, which speaks streamable HTTP.",
  ),
  headers: byDefault(
    z.record(z.string().check(rule(rules.explainHeaderName)), headerValue),
    {},
    "The HTTP headers of requests to a remote server.",
  ),
  oauth: optional(oauth, "How `trailblaze login` signs in to a remote server."),
  ...runKeys(),
  enabled: byDefault(z.boolean(), true, "Whether the server is used."),
  results: optional(
    results,
    "How large the results of the server's tools may be. Default: as in the config.",
  ),
  prefix: optional(
    matching(/^[A-Za-z0-9_-]{0,64}$/, (written) =>
      says(
        `has the invalid value ${quote(written, 40)}`,
        "Use at most 64 characters from A-Z, a-z, 0-9, _ and -.",
      ),
    ),
    "Starts the names of the server's tools: prefix_name. Empty for no prefix.",
  ),
  tools: section(
    z.object({
      allow: optional(
        toolPatterns,
        "Patterns of the server's names for its tools, where * matches any characters. Without this key, all tools are allowed.",
      ),
      deny: byDefault(toolPatterns, [], "Patterns of tools to exclude. Takes precedence over allow."),
      override: optional(
        z.record(name, toolOverride),
        "What replaces a tool's own name, title, description and annotations, and its fixed arguments, by the server's name for it.",
      ),
    }),
    "Which of the server's tools a session has, and what models see of them.",
  ),
  toolset: optional(itemName, "A toolset that the server's tools join."),
};

/** A server has exactly one of these keys, which say how it is reached. */
const oneOfWays = ["command", "package", "url"].map((key) => ({
  properties: { [key]: { type: "string" } },
  required: [key],
}));

export const userServer = z.object(serverKeys);

export type CheckedServer = z.output<typeof userServer>;

const label = matching(/\S/, () => "is an empty name").check(rule(rules.explainLabel));

const subprocessServer = z
  .object({
    name: label.clone().register(z.globalRegistry, {
      description: "The server's label for logs, messages and LABEL/TOOL. It contains no slash.",
    }),
    ...serverKeys,
  })
  .check(ruleOfKeys(rules.findServerBreaches))
  .register(z.globalRegistry, { oneOf: oneOfWays });

export const pastedServer = z
  .looseObject({
    ...serverKeys,
    type: optional(
      z.enum(["stdio", "http", "streamable-http"], {
        error: ({ input }) => (input === "sse" ? says(rules.sse, rules.sseHint) : ""),
      }),
      "The transport: stdio for a command, the others for a URL.",
    ),
    disabled: optional(z.boolean(), "The same as enabled: false."),
  })
  .check(ruleOfKeys(rules.findServerBreaches))
  .register(z.globalRegistry, { oneOf: oneOfWays });

const callback = z.object({
  enabled: byDefault(z.boolean(), true, "Whether servers may call the session's tools."),
  timeoutMs: byDefault(milliseconds, 120_000, "The timeout of a callback in milliseconds."),
  maxDepth: byDefault(z.int().check(z.minimum(1), z.maximum(1000)), 16, "The limit on nested callbacks."),
  maxBodyBytes: byDefault(
    z.int().check(z.minimum(1), z.maximum(64 << 20)),
    1 << 20,
    "The limit on a request's size in bytes.",
  ),
  bodyTimeoutMs: byDefault(milliseconds, 10_000, "The timeout for receiving a request, in milliseconds."),
});

const timeouts = z.object({
  handshakeMs: byDefault(limitMs, 60_000, "The timeout for a server to answer initialize, or -1 for none."),
  listMs: byDefault(limitMs, 60_000, "The timeout for a server to list its tools, or -1 for none."),
  callMs: byDefault(limitMs, 120_000, "The timeout of a tool call, or -1 for none."),
  inputMs: byDefault(
    milliseconds,
    600_000,
    "The timeout for the user to answer a question of a tool. Meanwhile, the tool's own time stands still.",
  ),
});

export const config = z
  .object({
    $schema: optional(z.string(), "The location of this schema, for editors."),
    device: optional(device, "The device that the session runs for."),
    preferHostAgent: byDefault(
      z.boolean(),
      true,
      "Whether the agent runs on the host. If false, tools that require this are excluded.",
    ),
    memory: byDefault(z.record(text, text), {}, "The initial memory of the session."),
    sensitiveMemory: byDefault(
      z.array(name),
      [],
      "Keys of the memory to keep out of tools, envelopes, recordings and logs.",
    ),
    packs: section(packs, "Which packs a session uses, and what they may access."),
    lock: section(lock, "How sessions use trailblaze.lock."),
    options: byDefault(
      z.record(
        matching(/^[^\s]+$/, (written) => `is ${quote(written)}, which is not the name of a tool`).check(
          rule(rules.explainToolName),
          z.overwrite(rules.normalizeToolName),
        ),
        z.record(z.string(), z.unknown()),
      ),
      {},
      "Values of tools' options, by the qualified name of the tool or the name of the built-in.",
    ),
    toolsets: byDefault(
      z.record(itemName, references),
      {},
      "Your own toolsets: arrays of references by name.",
    ),
    servers: byDefault(
      z.record(itemName, composedServer),
      {},
      "Your own servers, composed of installed items.",
    ),
    builtIns: byDefault(
      z.array(z.unknown()),
      [],
      "Your own tools: definitions whose handlers are modules of the project.",
    ),
    nameCollisions: optional(
      z.enum(["error", "prefix"]),
      "What happens if several tools have the same name: error (the default) ends the session, prefix (the default of `trailblaze start` without a server) adds the name of the pack or the server.",
    ),
    crash: byDefault(
      z.enum(["fail", "isolate", "relaunch"]),
      "fail",
      "What happens if a server exits unexpectedly: fail ends the session, isolate fails only its tools, relaunch restarts it once.",
    ),
    serversStart: optional(
      z.enum(["eager", "lazy"]),
      "When servers start: eager (the default) with the session, lazy (the default of `trailblaze call`, and of `trailblaze start` without a server) at the first call that needs them, if trailblaze.lock has their lists.",
    ),
    serversIdleMs: optional(
      milliseconds,
      "Ends servers after this time without a call, in milliseconds; the next call starts them again. Default: they run until the session ends.",
    ),
    isolation: byDefault(
      z.enum(["in-process", "process"]),
      "in-process",
      "Where the tools of packs run: in the host's process, or in one child process per pack.",
    ),
    callback: section(callback, "The callback endpoint, through which servers call tools."),
    timeouts: section(timeouts, "Timeouts in milliseconds."),
    calls: optional(
      calls,
      "Which calls are denied, and which the user is asked about: patterns of tools' advertised names and their servers' own, or of publisher/pack/tool and LABEL/TOOL, where * matches any part of a segment.",
    ),
    results: optional(
      results,
      "How large results may be. Default: 100,000 characters for `trailblaze start` without a server and for `trailblaze call` on a terminal, otherwise any size.",
    ),
    envFile: optional(
      name,
      "A file of environment variables for your servers, and for those that servers of packs name in `envPassthrough`, relative to the folder of this file.",
    ),
    logDir: optional(
      name,
      "The folder for the session's logs, relative to the folder of this file. Default: a folder in your state folder.",
    ),
    trailblazeSubprocessToolsets: byDefault(
      z.array(subprocessServer),
      [],
      "Your own MCP servers, which start with the session.",
    ),
    mcpServers: byDefault(
      z.record(label, pastedServer),
      {},
      "Your own MCP servers by label, in the form of clients' configs. Keys that only clients use are ignored.",
    ),
  })
  .check(ruleOfKeys(rules.findSameLabels))
  .register(z.globalRegistry, {
    title: "trailblaze.config.yaml",
    description: "The config of Trailblaze sessions. Custom keys start with x-.",
  });

export type CheckedConfig = z.output<typeof config>;
