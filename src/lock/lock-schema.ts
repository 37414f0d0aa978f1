import * as z from "zod/mini";

const items = z.optional(z.record(z.string(), z.looseObject({})));
const denied = z.optional(z.array(z.string()));
const version = z.optional(z.nullable(z.string()));

/** A server may have other keys. */
const server = z.looseObject({
  version,
  denied,
  launch: z.optional(z.looseObject({})),
  lists: z.nullish(z.record(z.string(), z.looseObject({}))),
  prompts: items,
  resources: items,
  skills: items,
});

/** An object that has no other keys. */
const closed = <Shape extends z.core.$ZodShape>(shape: Shape) =>
  z.catchall(z.object(shape), z.undefined({ error: "absent" }));

/** The shape of a lock, as far as the rest of the program relies on it. */
export const lockShape = closed({
  lockfileVersion: z.literal(1),
  packs: z.record(
    z.string(),
    closed({
      version,
      surface: z.optional(z.string()),
      denied,
      needs: z.optional(z.looseObject({})),
      tools: items,
      servers: z.optional(z.record(z.string(), server)),
      toolsets: items,
      prompts: items,
      resources: items,
      skills: items,
    }),
  ),
  servers: z.record(z.string(), server),
});
