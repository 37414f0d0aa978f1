// What the schemas of the config and of definitions share. What editors say of the keys comes from the tables of docs/.
import * as z from "zod/mini";
import { isPackageName } from "../qualified-names/item-name.ts";
import { rule } from "./shape-faults.ts";

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

export const toolAnnotations = () =>
  z.looseObject({
    title: z.optional(text),
    readOnlyHint: z.optional(z.boolean()),
    destructiveHint: z.optional(z.boolean()),
    idempotentHint: z.optional(z.boolean()),
    openWorldHint: z.optional(z.boolean()),
  });

/** The keys of a server that the host composes of items. */
export const composedKeys = <Schema extends z.ZodMiniType>(references: Schema) => ({
  tools: z.optional(references),
  toolsets: z.optional(references),
  prompts: z.optional(references),
  resources: z.optional(references),
  skills: z.optional(references),
  transport: z.optional(z.enum(["stdio", "http"])),
  protocol: z.optional(z.enum(["both", "modern", "legacy"])),
  instructions: z.optional(text),
});

/** How a session runs a server that it does not compose. */
export const runKeys = () => ({
  bin: z.optional(name),
  protocol: z.optional(z.enum(["auto", "legacy", "modern"])),
  context: z.optional(z.boolean()),
  legacyContext: z.optional(z.boolean()),
  start: z.optional(z.enum(["eager", "lazy"])),
  idleMs: z.optional(milliseconds),
  timeouts: z.optional(
    z.object({
      handshakeMs: z.optional(limitMs),
      listMs: z.optional(limitMs),
      callMs: z.optional(limitMs),
    }),
  ),
});
