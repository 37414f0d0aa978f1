// The single source of the config's shape. Like the schemas of src/extension-schema, it is read at build time only.
// Separate code checks `packs`, `builtIns` and the rules that a schema cannot express; a test compares the two.
import { z } from "zod";
import { definitionShapes } from "../extension-schema/definition-schema.ts";
import { itemNamePattern } from "../extension-schema/schema.ts";

const text = z.string();
const name = z.string().regex(/\S/);
/** At most a day. */
const milliseconds = z.int().min(1).max(86_400_000);
const pixels = z.int().min(1).max(100_000);
const itemName = z.string().regex(itemNamePattern);
const references = z.array(name);

/** Spelled out because JSON Schema patterns have no flags. */
const platform = z.string().regex(/^(?:[Aa][Nn][Dd][Rr][Oo][Ii][Dd]|[Ii][Oo][Ss]|[Ww][Ee][Bb])$/);

const device = z.object({
  platform: platform
    .optional()
    .meta({ description: "ANDROID, IOS or WEB, ignoring case.", examples: ["ANDROID", "IOS", "WEB"] }),
  widthPixels: pixels.optional().meta({ description: "The width of the screen in pixels." }),
  heightPixels: pixels.optional().meta({ description: "The height of the screen in pixels." }),
  driverType: name
    .optional()
    .meta({ description: "The driver of the device, compared exactly with a tool's supportedDrivers." }),
});

/** One to three segments that consist of the characters of names and `*`. */
const pattern = z.string().regex(/^@?[\w.~*-]+(?:\/[\w.~*-]+){0,2}$/);
const patterns = z.array(pattern);
const packName = z.string().regex(/^@?[A-Za-z0-9~][A-Za-z0-9._~-]*(?:\/[A-Za-z0-9~][A-Za-z0-9._~-]*)?$/);

const packs = z.object({
  allow: patterns.optional().meta({
    description:
      "Packs and items to allow: publisher/pack or publisher/pack/item, where * matches any part of a segment. Without this key, everything is allowed.",
  }),
  deny: patterns
    .default([])
    .meta({ description: "Packs and items to exclude. Takes precedence over allow." }),
  transitive: patterns
    .default([])
    .meta({ description: "Transitive packs to use: those that only other packages depend on." }),
  onError: z.enum(["skip", "fail"]).default("skip").meta({
    description:
      "What happens if an item has an error or a server does not start: skip excludes it, fail ends the session.",
  }),
  memory: z
    .union([z.enum(["all", "none"]), z.record(packName, z.array(text))])
    .default("all")
    .meta({
      description:
        "Which memory the tools of packs see: all, none, or an array of keys per pack. Packs without an entry see none.",
    }),
  autoInstall: patterns
    .default([])
    .meta({ description: "Packs that may be installed automatically if they are missing." }),
});

const lock = z.object({
  frozen: z.boolean().default(false).meta({
    description: "Whether anything that differs from trailblaze.lock is an error, also that there is none.",
  }),
  workspace: z
    .boolean()
    .default(false)
    .meta({ description: "Whether packs of the project and its workspace are locked too." }),
  unlocked: patterns.default([]).meta({
    description: "Packs, items and servers of this config that are used without approval.",
  }),
});

const composedServer = z.object({
  tools: references.optional().meta({ description: "The tools to serve." }),
  toolsets: references.optional().meta({ description: "Toolsets whose tools to serve." }),
  prompts: references.optional().meta({ description: "The prompts to serve." }),
  resources: references.optional().meta({ description: "The resources to serve." }),
  transport: z.enum(["stdio", "http"]).optional().meta({ description: "The transport. Default: stdio." }),
  protocol: z.enum(["both", "modern", "legacy"]).optional().meta({
    description:
      "The clients to serve: modern from revision 2026-07-28 of MCP on, legacy before it. Default: both.",
  }),
  version: name.optional().meta({ description: "The version sent to clients." }),
  instructions: text.optional().meta({ description: "Instructions for models on how to use the server." }),
  mcpServerName: name.optional().meta({ description: "The server's key in client configs." }),
});

const toolPatterns = z.array(name);

/** The keys that both forms of a user's server have. */
const serverKeys = {
  command: name
    .optional()
    .meta({ description: "The program to run. It must speak MCP over stdin and stdout." }),
  package: name.optional().meta({
    description: "The npm name of an installed package whose command to run, resolved from the project.",
  }),
  bin: name.optional().meta({
    description:
      "The command of `package`. Default: its only command, or the one that is named like the package.",
  }),
  args: z.array(text).default([]).meta({ description: "The arguments." }),
  cwd: name
    .optional()
    .meta({ description: "The working folder, relative to the folder of this file. Default: that folder." }),
  env: z
    .record(z.string(), text)
    .default({})
    .meta({ description: "Environment variables to add to the inherited ones." }),
  url: name.optional().meta({
    description: "The http or https URL of a remote server, which speaks streamable HTTP.",
  }),
  headers: z
    .record(z.string(), text)
    .optional()
    .meta({ description: "The HTTP headers of requests to a remote server." }),
  protocol: z.enum(["auto", "legacy", "modern"]).default("auto").meta({
    description:
      "The revisions of MCP to speak: modern from 2026-07-28 on, legacy before it. auto asks the server: it begins with initialize, and becomes modern if the server refuses that.",
  }),
  context: z.boolean().optional().meta({
    description:
      "Whether the server gets the session's context: memory and device with each call, and the address for callbacks. Default: true for a `command` of `trailblazeSubprocessToolsets`, false for all others.",
  }),
  legacyContext: z.boolean().default(true).meta({
    description: "Whether calls with the context include `_trailblazeContext` in their arguments.",
  }),
  enabled: z.boolean().default(true).meta({ description: "Whether the server is used." }),
  start: z.enum(["eager", "lazy"]).optional().meta({
    description:
      "When the server starts: eager with the session, lazy at the first call that needs it, if trailblaze.lock has its lists. Default: `serversStart`.",
  }),
  idleMs: milliseconds.optional().meta({
    description:
      "Ends the server after this time without a call, in milliseconds; the next call starts it again. Default: `serversIdleMs`.",
  }),
  prefix: z
    .string()
    .regex(/^[A-Za-z0-9_-]{0,64}$/)
    .optional()
    .meta({ description: "Starts the names of the server's tools: prefix_name. Empty for no prefix." }),
  tools: z
    .object({
      allow: toolPatterns.optional().meta({
        description:
          "Patterns of the server's names for its tools, where * matches any characters. Without this key, all tools are allowed.",
      }),
      deny: toolPatterns
        .optional()
        .meta({ description: "Patterns of tools to exclude. Takes precedence over allow." }),
    })
    .optional()
    .meta({ description: "Which of the server's tools a session has." }),
  toolset: itemName.optional().meta({ description: "A toolset that the server's tools join." }),
};

/** A server has exactly one of these keys, which say how it is reached. */
const oneOfWays = ["command", "package", "url"].map((key) => ({
  properties: { [key]: { type: "string" } },
  required: [key],
}));

const subprocessServer = z
  .object({
    name: name.meta({
      description: "The server's label for logs, messages and LABEL/TOOL. It contains no slash.",
    }),
    ...serverKeys,
  })
  .meta({ oneOf: oneOfWays });

const pastedServer = z
  .looseObject({
    ...serverKeys,
    type: z
      .enum(["stdio", "http", "streamable-http"])
      .optional()
      .meta({ description: "The transport: stdio for a command, the others for a URL." }),
    disabled: z.boolean().optional().meta({ description: "The same as enabled: false." }),
  })
  .meta({ oneOf: oneOfWays });

const builtIn = z
  .looseObject({
    ...definitionShapes.tool.shape,
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
  timeoutMs: milliseconds
    .default(120_000)
    .meta({ description: "The timeout of a callback in milliseconds." }),
  maxDepth: z.int().min(1).max(1000).default(16).meta({ description: "The limit on nested callbacks." }),
  maxBodyBytes: z
    .int()
    .min(1)
    .max(64 << 20)
    .default(1 << 20)
    .meta({ description: "The limit on a request's size in bytes." }),
  bodyTimeoutMs: milliseconds
    .default(10_000)
    .meta({ description: "The timeout for receiving a request, in milliseconds." }),
});

const timeouts = z.object({
  handshakeMs: milliseconds
    .default(60_000)
    .meta({ description: "The timeout for a server to answer initialize." }),
  listMs: milliseconds.default(60_000).meta({ description: "The timeout for a server to list its tools." }),
  callMs: milliseconds.default(120_000).meta({ description: "The timeout of a tool call." }),
  inputMs: milliseconds.default(600_000).meta({
    description:
      "The timeout for the user to answer a question of a tool. Meanwhile, the tool's own time stands still.",
  }),
});

export const config = z
  .object({
    $schema: z.string().optional().meta({ description: "The location of this schema, for editors." }),
    device: device.optional().meta({ description: "The device that the session runs for." }),
    preferHostAgent: z.boolean().default(true).meta({
      description: "Whether the agent runs on the host. If false, tools that require this are excluded.",
    }),
    memory: z
      .record(z.string(), text)
      .default({})
      .meta({ description: "The initial memory of the session." }),
    sensitiveMemory: z.array(name).default([]).meta({
      description: "Keys of the memory to keep out of tools, envelopes, recordings and logs.",
    }),
    packs: packs.optional().meta({ description: "Which packs a session uses, and what they may access." }),
    lock: lock.optional().meta({ description: "How sessions use trailblaze.lock." }),
    options: z
      .record(z.string().regex(/^[^\s]+$/), z.record(z.string(), z.unknown()))
      .default({})
      .meta({
        description:
          "Values of tools' options, by the qualified name of the tool or the name of the built-in.",
      }),
    toolsets: z
      .record(itemName, references)
      .default({})
      .meta({ description: "Your own toolsets: arrays of references by name." }),
    servers: z
      .record(itemName, composedServer)
      .default({})
      .meta({ description: "Your own servers, composed of installed items." }),
    builtIns: z
      .array(builtIn)
      .default([])
      .meta({ description: "Your own tools: definitions whose handlers are modules of the project." }),
    nameCollisions: z.enum(["error", "prefix"]).optional().meta({
      description:
        "What happens if several tools have the same name: error (the default) ends the session, prefix (the default of `trailblaze start` without a server) adds the name of the pack or the server.",
    }),
    crash: z.enum(["fail", "isolate", "relaunch"]).default("fail").meta({
      description:
        "What happens if a server exits unexpectedly: fail ends the session, isolate fails only its tools, relaunch restarts it once.",
    }),
    serversStart: z.enum(["eager", "lazy"]).optional().meta({
      description:
        "When servers start: eager (the default) with the session, lazy (the default of `trailblaze call`, and of `trailblaze start` without a server) at the first call that needs them, if trailblaze.lock has their lists.",
    }),
    serversIdleMs: milliseconds.optional().meta({
      description:
        "Ends servers after this time without a call, in milliseconds; the next call starts them again. Default: they run until the session ends.",
    }),
    isolation: z.enum(["in-process", "process"]).default("in-process").meta({
      description: "Where the tools of packs run: in the host's process, or in one child process per pack.",
    }),
    callback: callback
      .optional()
      .meta({ description: "The callback endpoint, through which servers call tools." }),
    timeouts: timeouts.optional().meta({ description: "Timeouts in milliseconds." }),
    logDir: name.optional().meta({
      description:
        "The folder for the session's logs, relative to the folder of this file. Default: a folder in your state folder.",
    }),
    trailblazeSubprocessToolsets: z
      .array(subprocessServer)
      .default([])
      .meta({ description: "Your own MCP servers, which start with the session." }),
    mcpServers: z.record(name, pastedServer).default({}).meta({
      description:
        "Your own MCP servers by label, in the form of clients' configs. Keys that only clients use are ignored.",
    }),
  })
  .meta({
    title: "trailblaze.config.yaml",
    description: "The config of Trailblaze sessions. Custom keys start with x-.",
  });
