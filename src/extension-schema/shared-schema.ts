// What the schemas of the config and of definitions share.
import * as z from "zod/mini";
import { isPackageName } from "../qualified-names/item-name.ts";
import { rule } from "./shape-faults.ts";

/** A copy with what editors and the reference show: a description, and words for the type. */
export function describe<Schema extends z.ZodMiniType>(
  schema: Schema,
  description: string,
  title?: string,
): Schema {
  const copy = schema.clone();
  z.globalRegistry.add<z.ZodMiniType>(copy, title === undefined ? { description } : { title, description });
  return copy;
}

export const optional = <Schema extends z.ZodMiniType>(schema: Schema, description: string, title?: string) =>
  z.optional(describe(schema, description, title));

export const text = z.string();
/** A string that is not blank. */
export const name = z.string().check(z.regex(/\S/, { abort: true }));

/** JSON Schema patterns have no flags, so this repeats the rule of `explainInvalidItemName`; a test compares the two. */
export const itemNamePattern =
  /^(?!(?:__proto__|constructor|prototype)$)(?!(?:[Cc][Oo][Nn]|[Pp][Rr][Nn]|[Aa][Uu][Xx]|[Nn][Uu][Ll]|[Cc][Oo][Mm][0-9]|[Ll][Pp][Tt][0-9])(?:\..*)?$)(?!.*\.$)[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/** An npm name without a version. */
export const npmName = name.check(
  rule((written) =>
    isPackageName(written) ? undefined : { words: "is not an npm name", hint: "Write it without a version." },
  ),
);

/** At most a day. */
export const milliseconds = z.int().check(z.minimum(1), z.maximum(86_400_000));

/** At most a day, or -1 for no limit. */
export const limitMs = z.union([z.literal(-1), milliseconds], {
  error: "an integer from 1 to 86400000, or -1 for no limit",
});

const limit = (description: string) => optional(limitMs, description, "integer, or `-1` for none");

export const toolAnnotations = () =>
  z.looseObject({
    title: optional(text, "A display name."),
    readOnlyHint: optional(z.boolean(), "The tool does not modify its environment."),
    destructiveHint: optional(z.boolean(), "The tool may overwrite or delete data."),
    idempotentHint: optional(
      z.boolean(),
      "Repeated calls with the same arguments have no additional effect.",
    ),
    openWorldHint: optional(z.boolean(), "The tool interacts with external systems, such as the web."),
  });

export const version = optional(name, "The version sent to clients. Default: the package's version.");

/** The keys of a server that the host composes of items. */
export const composedKeys = <Schema extends z.ZodMiniType>(references: Schema) => ({
  tools: optional(references, "The tools to serve."),
  toolsets: optional(references, "Toolsets whose tools are served after those of `tools`."),
  prompts: optional(references, "The prompts to serve."),
  resources: optional(references, "The resources to serve."),
  skills: optional(references, "The skills to serve."),
  transport: optional(z.enum(["stdio", "http"]), "The transport. Default: `stdio`."),
  protocol: optional(
    z.enum(["both", "modern", "legacy"]),
    "The clients to serve: `modern` from revision 2026-07-28 of MCP on, `legacy` before it. Default: `both`.",
  ),
  instructions: optional(text, "Instructions for models on how to use the server."),
});

/** How a session runs a server that it does not compose. */
export const runKeys = () => ({
  bin: optional(name, "The command of `package`. Default: its only one, or the one with its name."),
  protocol: optional(
    z.enum(["auto", "legacy", "modern"]),
    "The revisions of MCP that the server speaks: `modern` from 2026-07-28 on, `legacy` before it. Default: `auto`, which asks the server.",
  ),
  context: optional(
    z.boolean(),
    "Whether the server gets the session's context: memory and device with each call, and the address for callbacks. Default: true for a `command` or `script` of a pack or of `trailblazeSubprocessToolsets`, false for all others.",
  ),
  legacyContext: optional(
    z.boolean(),
    "Whether calls with the context include `_trailblazeContext` in their arguments. Default: true.",
  ),
  start: optional(
    z.enum(["eager", "lazy"]),
    "When sessions start it: `eager` when they open, `lazy` at the first call that needs it, if trailblaze.lock has its lists. Default: `serversStart` of the user's config.",
  ),
  idleMs: optional(
    milliseconds,
    "Sessions end the server after this time without a call, in milliseconds; the next call starts it again. Default: `serversIdleMs` of the user's config.",
  ),
  timeouts: optional(
    z.object({
      handshakeMs: limit("The timeout for the server to answer initialize."),
      listMs: limit("The timeout for the server to list its tools."),
      callMs: limit("The timeout of a call."),
    }),
    "Its timeouts in milliseconds instead of those of the user's config; `-1` is none.",
    "`{ handshakeMs, listMs, callMs }`",
  ),
});
