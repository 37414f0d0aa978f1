// The single source of the config's checks, defaults and types, and of its JSON Schema, in which the tables of
// docs/guides/configuration.md say what the keys are for.
import * as z from "zod/mini";
import { platformPattern, platforms } from "../extension-schema/meta-schema.ts";
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
} from "../extension-schema/shared-schema.ts";
import { quote } from "../problems/index.ts";
import { explainInvalidItemName, packPattern } from "../qualified-names/item-name.ts";
import * as rules from "./config-rules.ts";

/** An object whose keys have defaults that also apply without it. */
const section = <Schema extends z.ZodMiniType>(schema: Schema) => z.prefault(schema, {} as z.input<Schema>);

/** A string that matches a pattern. `explain` returns what is wrong with any other, and a hint. */
const matching = (pattern: RegExp, explain?: (written: string) => string) =>
  z.string().check(z.regex(pattern, { error: ({ input }) => explain?.(String(input)) ?? "" }));

const pixels = z.int().check(z.minimum(1), z.maximum(100_000));
const itemName = matching(
  itemNamePattern,
  (written) => `is not a valid name: ${explainInvalidItemName(written)}`,
);
const names = z.array(name);
/** A qualified name, or one of a built-in. */
const userName = name.check(z.overwrite((written) => written.replace(/^@/, "")));

const platform = matching(
  platformPattern,
  (written) => `must be ANDROID, IOS or WEB, but it is ${quote(written, 40)}`,
)
  .check(z.toUpperCase())
  .register(z.globalRegistry, { examples: [...platforms] });

const device = z.object({
  platform: z.optional(platform),
  widthPixels: z.optional(pixels),
  heightPixels: z.optional(pixels),
  driverType: z.optional(name),
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
const packs = z.object({
  allow: z.optional(patterns),
  deny: z._default(patterns, []),
  transitive: z._default(patterns, []),
  onError: z._default(z.enum(["skip", "fail"]), "skip"),
  memory: z._default(
    z.union([z.enum(["all", "none"]), z.record(userName, z.array(text))], {
      error: "all, none, or an object of arrays of keys by pack",
    }),
    "all",
  ),
  autoInstall: z._default(patterns, []),
});

const lock = z.object({
  frozen: z._default(z.boolean(), false),
  workspace: z._default(z.boolean(), false),
  unlocked: z._default(z.array(unlockedPattern), []),
});

const composedServer = z
  .object({ ...composedKeys(names), version: z.optional(name), mcpServerName: z.optional(name) })
  .check(ruleOfKeys(rules.explainEmptyServer));

const calls = z.object({
  ask: z._default(names, []),
  deny: z._default(names, []),
});

const toolOverride = z.object({
  name: z.optional(name),
  title: z.optional(text),
  description: z.optional(text),
  annotations: z.optional(toolAnnotations()),
  arguments: z.optional(z.record(name, z.unknown())),
});

const results = z.object({
  maxChars: z.optional(
    z.union([z.literal(-1), z.int().check(z.minimum(100))], {
      error: "an integer from 100, or -1 for no limit",
    }),
  ),
});

/** One with `=` would set a variable that the lock does not know. */
const variableName = matching(/^[^=\0]+$/, () => "is not a valid variable name");

/** A user's value of a header that frames requests or belongs to a session makes them fail, wait or be misread. */
const reservedHeader = /^(?:content-length|transfer-encoding|upgrade|mcp-session-id)$/i;
const headerName = matching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, () => "is not a valid header name").check(
  rule((header) => (reservedHeader.test(header) ? "is a header that the connection controls" : undefined)),
);

const oauth = z.object({
  clientId: z.optional(name),
  clientSecret: z.optional(name),
  clientMetadataUrl: z.optional(
    matching(/^https:\/\/[^/]+\/./, () =>
      says("is not an https URL of a document", "Use the URL of the client's metadata document."),
    ),
  ),
  issuer: z.optional(name),
  scopes: z.optional(z.array(matching(/^\S+$/))),
  redirectUrl: z.optional(name.check(rule(rules.explainRedirect))),
  callbackPort: z.optional(z.int().check(z.minimum(1), z.maximum(65_535))),
  grant: z.optional(z.enum(["authorization_code", "client_credentials"])),
});

/** The keys that both forms of a user's server have. */
const serverKeys = {
  command: z.optional(name),
  package: z.optional(npmName),
  args: z._default(z.array(text), []),
  cwd: z._default(name, "."),
  env: z._default(
    z.record(
      variableName,
      z.union([text, z.object({ file: name })], { error: "a string, or { file: ./path }" }),
    ),
    {},
  ),
  envFile: z.optional(name),
  url: z.optional(name.check(rule(rules.explainUrl))),
  headers: z._default(z.record(headerName, text), {}),
  oauth: z.optional(oauth),
  ...runKeys(),
  enabled: z._default(z.boolean(), true),
  results: z.optional(results),
  prefix: z.optional(
    matching(/^[A-Za-z0-9_-]{0,64}$/, (written) =>
      says(
        `has the invalid value ${quote(written, 40)}`,
        "Use at most 64 characters from A-Z, a-z, 0-9, _ and -.",
      ),
    ),
  ),
  tools: section(
    z.object({
      allow: z.optional(names),
      deny: z._default(names, []),
      override: z.optional(z.record(name, toolOverride)),
    }),
  ),
  toolset: z.optional(itemName),
};

export const userServer = z.object(serverKeys);

const label = matching(/\S/, () => "is an empty name").check(rule(rules.explainLabel));

const subprocessServer = z.object({ name: label, ...serverKeys }).check(ruleOfKeys(rules.findServerBreaches));

export const pastedServer = z
  .looseObject({
    ...serverKeys,
    type: z.optional(
      z.enum(["stdio", "http", "streamable-http"], {
        error: ({ input }) => (input === "sse" ? says(rules.sse, rules.sseHint) : ""),
      }),
    ),
    disabled: z.optional(z.boolean()),
  })
  .check(ruleOfKeys(rules.findServerBreaches));

const callback = z.object({
  enabled: z._default(z.boolean(), true),
  timeoutMs: z._default(milliseconds, 120_000),
  maxDepth: z._default(z.int().check(z.minimum(1), z.maximum(1000)), 16),
  maxBodyBytes: z._default(z.int().check(z.minimum(1), z.maximum(64 << 20)), 1 << 20),
  bodyTimeoutMs: z._default(milliseconds, 10_000),
});

const timeouts = z.object({
  handshakeMs: z._default(limitMs, 60_000),
  listMs: z._default(limitMs, 60_000),
  callMs: z._default(limitMs, 120_000),
  inputMs: z._default(milliseconds, 600_000),
});

export const config = z
  .object({
    $schema: z.optional(z.string()),
    device: z.optional(device),
    preferHostAgent: z._default(z.boolean(), true),
    memory: z._default(z.record(text, text), {}),
    sensitiveMemory: z._default(z.array(name), []),
    packs: section(packs),
    lock: section(lock),
    options: z._default(z.record(userName, z.record(z.string(), z.unknown())), {}),
    toolsets: z._default(z.record(itemName, names), {}),
    servers: z._default(z.record(itemName, composedServer), {}),
    builtIns: z._default(z.array(z.unknown()), []),
    nameCollisions: z.optional(z.enum(["error", "prefix"])),
    crash: z._default(z.enum(["fail", "isolate", "relaunch"]), "fail"),
    serversStart: z.optional(z.enum(["eager", "lazy"])),
    serversIdleMs: z.optional(milliseconds),
    isolation: z.optional(z.enum(["in-process", "process"])),
    callback: section(callback),
    timeouts: section(timeouts),
    calls: z.optional(calls),
    results: z.optional(results),
    envFile: z.optional(name),
    logDir: z.optional(name),
    trailblazeSubprocessToolsets: z._default(z.array(subprocessServer), []),
    mcpServers: z._default(z.record(label, pastedServer), {}),
  })
  .check(ruleOfKeys(rules.findSameLabels))
  .register(z.globalRegistry, {
    title: "trailblaze.config.yaml",
    description: "The config of Trailblaze sessions. Custom keys start with x-.",
  });

export type CheckedConfig = z.output<typeof config>;
