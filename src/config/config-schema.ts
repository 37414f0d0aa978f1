// The one source of the config's shape; read at build time only, as the schemas of src/extension-schema are. What a
// schema cannot say, and what `packs` and `builtIns` must be, is checked by hand; a test compares the two.
import { z } from "zod";
import { definitionShapes } from "../extension-schema/definition-schema.ts";
import { itemNamePattern } from "../extension-schema/schema.ts";

const text = z.string();
const name = z.string().regex(/\S/);
/** A day. A timer could wait 24 of them, a person will not. */
const milliseconds = z.int().min(1).max(86_400_000);
const pixels = z.int().min(1).max(100_000);
const itemName = z.string().regex(itemNamePattern);
const references = z.array(name);

/** JSON Schema knows no flags. */
const platform = z.string().regex(/^(?:[Aa][Nn][Dd][Rr][Oo][Ii][Dd]|[Ii][Oo][Ss]|[Ww][Ee][Bb])$/);

const device = z.object({
  platform: platform
    .optional()
    .meta({ description: "ANDROID, IOS or WEB, in capitals or not.", examples: ["ANDROID", "IOS", "WEB"] }),
  widthPixels: pixels.optional().meta({ description: "Width of the screen." }),
  heightPixels: pixels.optional().meta({ description: "Height of the screen." }),
  driverType: name
    .optional()
    .meta({ description: "What drives the device; compared exactly with a tool's supportedDrivers." }),
});

/** Three segments at most, none empty, of characters that names have. */
const pattern = z.string().regex(/^@?[\w.~*-]+(?:\/[\w.~*-]+){0,2}$/);
const patterns = z.array(pattern);
const packName = z.string().regex(/^@?[A-Za-z0-9~][A-Za-z0-9._~-]*(?:\/[A-Za-z0-9~][A-Za-z0-9._~-]*)?$/);

const packs = z.object({
  allow: patterns.optional().meta({
    description:
      "Packs and items that are let in: publisher/pack or publisher/pack/item, where * stands for any part of a segment. Without this key everything is allowed.",
  }),
  deny: patterns.default([]).meta({ description: "Packs and items that are shut out; wins over allow." }),
  transitive: patterns
    .default([])
    .meta({ description: "Packs to take though only other packages depend on them." }),
  onError: z.enum(["skip", "fail"]).default("skip").meta({
    description: "What a pack's item with an error, or a server that does not start, does to the session.",
  }),
  memory: z
    .union([z.enum(["all", "none"]), z.record(packName, z.array(text))])
    .default("all")
    .meta({
      description:
        "What packs' tools see of the memory: all, none, or by pack a list of keys; a pack that is not named then sees none.",
    }),
  autoInstall: patterns
    .default([])
    .meta({ description: "Packs that may be installed where they are missing." }),
});

const composedServer = z.object({
  tools: references.optional().meta({ description: "Tools that it serves." }),
  toolsets: references.optional().meta({ description: "Toolsets whose tools it serves." }),
  prompts: references.optional().meta({ description: "Prompts that it serves." }),
  transport: z
    .enum(["stdio", "http"])
    .optional()
    .meta({ description: "How clients reach it; stdio by default." }),
  version: name.optional().meta({ description: "Version that it tells clients." }),
  instructions: text.optional().meta({ description: "What it tells models about its use." }),
  mcpServerName: name.optional().meta({ description: "Its key in the configs of clients." }),
});

const subprocessServer = z.object({
  name: name.meta({ description: "For logs and messages; no part of its tools' names." }),
  command: name.meta({ description: "Program that speaks MCP over stdin and stdout." }),
  args: z.array(text).default([]).meta({ description: "Its arguments, as they are written." }),
  cwd: name
    .optional()
    .meta({ description: "Folder it runs in, relative to this file's folder, which is the default." }),
  env: z
    .record(z.string(), text)
    .default({})
    .meta({ description: "Added to the environment that it inherits." }),
  legacyContext: z.boolean().default(true).meta({
    description: "Whether its tools get `_trailblazeContext` among their arguments.",
  }),
});

const builtIn = definitionShapes.tool
  .loose()
  .extend({
    name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
    handler: z
      .string()
      .regex(/^\.\/./)
      .meta({ description: "./module.js#export, inside the project." }),
    initialize: z
      .string()
      .regex(/^\.\/./)
      .optional(),
  })
  .meta({
    oneOf: ["inputSchema", "parameters"].map((key) => ({ properties: { [key]: {} }, required: [key] })),
  });

const callback = z.object({
  enabled: z.boolean().default(true).meta({ description: "Whether servers may call the session's tools." }),
  timeoutMs: milliseconds.default(120_000).meta({ description: "How long a call back may take." }),
  maxDepth: z
    .int()
    .min(1)
    .max(1000)
    .default(16)
    .meta({ description: "How deep calls back may lead to further ones." }),
  maxBodyBytes: z
    .int()
    .min(1)
    .max(64 << 20)
    .default(1 << 20)
    .meta({ description: "The largest request." }),
  bodyTimeoutMs: milliseconds.default(10_000).meta({ description: "How long a request may take to arrive." }),
});

const timeouts = z.object({
  handshakeMs: milliseconds.default(60_000).meta({ description: "For a server to answer initialize." }),
  listMs: milliseconds.default(60_000).meta({ description: "For a server to list its tools." }),
  callMs: milliseconds.default(120_000).meta({ description: "For a tool to answer." }),
});

export const config = z
  .object({
    $schema: z.string().optional().meta({ description: "Where editors find this schema." }),
    device: device.optional().meta({ description: "The device that the session's tools work on." }),
    preferHostAgent: z.boolean().default(true).meta({
      description: "Whether the agent runs on the host; where false, tools that need that are left out.",
    }),
    memory: z
      .record(z.string(), text)
      .default({})
      .meta({ description: "Memory that the session begins with." }),
    sensitiveMemory: z.array(name).default([]).meta({
      description: "Keys of the memory that reach no tool, envelope, recording or log.",
    }),
    packs: packs.optional().meta({ description: "Which packs a session takes, and what they may." }),
    options: z
      .record(z.string().regex(/^[^\s]+$/), z.record(z.string(), z.unknown()))
      .default({})
      .meta({ description: "Values of tools' options, by the tool's qualified name or a built-in's name." }),
    toolsets: z
      .record(itemName, references)
      .default({})
      .meta({ description: "Groups of tools of your own: lists of references." }),
    servers: z
      .record(itemName, composedServer)
      .default({})
      .meta({ description: "Servers of your own, composed of installed items." }),
    builtIns: z
      .array(builtIn)
      .default([])
      .meta({ description: "Tools of your own: definitions whose handlers are modules of the project." }),
    nameCollisions: z.enum(["error", "suffix"]).default("error").meta({
      description: "What happens where two tools claim one name: an error, or all of them are numbered.",
    }),
    crash: z.enum(["fail", "isolate", "relaunch"]).default("fail").meta({
      description:
        "What a server's death does: it ends the session, only its tools fail, or it is started once more.",
    }),
    isolation: z
      .enum(["in-process", "process"])
      .default("in-process")
      .meta({ description: "Where packs' tools run: in the host's process, or in a child, one a pack." }),
    callback: callback.optional().meta({ description: "The endpoint through which servers call tools." }),
    timeouts: timeouts.optional().meta({ description: "Limits in milliseconds." }),
    logDir: name.optional().meta({
      description:
        "Folder of the session's logs, relative to this file's folder; default: below your state folder.",
    }),
    trailblazeSubprocessToolsets: z
      .array(subprocessServer)
      .default([])
      .meta({ description: "MCP servers of your own, started with the session." }),
  })
  .meta({
    title: "trailblaze.config.yaml",
    description: "What a session of Trailblaze is made of. Keys beginning with x- are free.",
  });
