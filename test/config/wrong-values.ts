/** Right but for one value: the config, where it is at fault, and what the reason names. */
export type WrongValue = readonly [config: Record<string, unknown>, path: (string | number)[], words: RegExp];

const server = (changes: object) => ({
  trailblazeSubprocessToolsets: [{ name: "a", command: "b", ...changes }],
});
const atServer = (...path: (string | number)[]) => ["trailblazeSubprocessToolsets", 0, ...path];
const pasted = (changes: object) => ({ mcpServers: { a: { command: "b", ...changes } } });
const remote = (changes: object) => ({ mcpServers: { a: { url: "https://a.b/c", ...changes } } });
const atPasted = (...path: (string | number)[]) => ["mcpServers", "a", ...path];
const tool = (changes: object) => ({
  builtIns: [{ name: "a", parameters: {}, handler: "./a.js", ...changes }],
});

/** What the exported schema refuses too. */
export const wrongByShape: readonly WrongValue[] = [
  [{ device: [] }, ["device"], /`device`.*array/],
  [{ device: { platform: "windows" } }, ["device", "platform"], /ANDROID.*IOS.*WEB.*"windows"/],
  [{ device: { widthPixels: 0 } }, ["device", "widthPixels"], /\b1\b.*\b0\b/],
  [{ memory: { userId: 42 } }, ["memory", "userId"], /`memory.userId`.*number/],
  [{ sensitiveMemory: ["a", 5] }, ["sensitiveMemory", 1], /`sensitiveMemory\[1\]`.*number/],
  [{ packs: { alow: [] } }, ["packs", "alow"], /"alow"/],
  [{ packs: { deny: ["acme/jira$"] } }, ["packs", "deny", 0], /"acme\/jira\$"/],
  [{ packs: { transitive: ["a/b/c/d"] } }, ["packs", "transitive", 0], /"a\/b\/c\/d".*segments/],
  [{ lock: { frozen: "off" } }, ["lock", "frozen"], /boolean.*string/],
  [{ lock: { unlocked: ["acme/jira"] } }, ["lock", "unlocked", 0], /"acme\/jira"/],
  [{ toolsets: { "a/b": [] } }, ["toolsets", "a/b"], /"a\/b"/],
  [{ toolsets: { con: [] } }, ["toolsets", "con"], /Windows/],
  [{ servers: { "": { tools: [] } } }, ["servers", ""], /""/],
  [{ servers: { a: { tools: [], transport: "sse" } } }, ["servers", "a", "transport"], /stdio.*http/],
  [tool({ name: undefined }), ["builtIns", 0], /`name`/],
  [tool({ name: "a/b" }), ["builtIns", 0, "name"], /"a\/b"/],
  [tool({ handler: "a.js#b" }), ["builtIns", 0, "handler"], /"a\.js#b".*"\.\/"/],
  [tool({ handler: { $function: "handler" } }), ["builtIns", 0, "handler"], /\.\/module\.js#export.*object/],
  [tool({ parameters: undefined }), ["builtIns", 0], /`inputSchema`/],
  [tool({ inputSchema: {} }), ["builtIns", 0, "parameters"], /`builtIns\[0\]`.*`parameters`/],
  [{ nameCollisions: "suffix" }, ["nameCollisions"], /error.*prefix/],
  [server({ name: undefined }), atServer(), /`name`.*`trailblazeSubprocessToolsets\[0\]`/],
  [server({ env: { PORT: 80 } }), atServer("env", "PORT"), /number/],
  [pasted({ env: { "A=B": "" } }), atPasted("env", "A=B"), /"A=B".*variable name/],
  [remote({ headers: { "A B": "" } }), atPasted("headers", "A B"), /"A B".*header name/],
  [server({ prefix: "a b" }), atServer("prefix"), /"a b"/],
  [remote({ type: "sse" }), atPasted("type"), /sse.*not supported/],
  [server({ type: "sse" }), atServer("type"), /sse.*not supported/],
  [{ memmory: {} }, ["memmory"], /"memmory"/],
];

/** What JSON Schema has no words for. */
export const wrongByMeaning: readonly WrongValue[] = [
  [JSON.parse('{"packs": {"memory": {"__proto__": []}}}'), ["packs", "memory", "__proto__"], /"__proto__"/],
  [JSON.parse('{"memory": {"__proto__": "a"}}'), ["memory", "__proto__"], /"__proto__"/],
  [{ servers: { a: {} } }, ["servers", "a"], /`servers.a`/],
  [tool({ handler: "./../a.js#b" }), ["builtIns", 0, "handler"], /"\.\/\.\.\/a\.js#b".*project/],
  [server({ name: "a".repeat(129) }), atServer("name"), /128/],
  [server({ package: "mcp" }), atServer("package"), /both present/],
  [{ mcpServers: { a: {} } }, atPasted(), /none of `command`/],
  [server({ command: undefined, package: "mcp@1" }), atServer("package"), /npm name/],
  [
    { trailblazeSubprocessToolsets: ["a", "A"].map((name) => ({ name, command: "x" })) },
    ["trailblazeSubprocessToolsets", 1, "name"],
    /another server, "a"/,
  ],
  [server({ name: "a/b" }), atServer("name"), /slash/],
  [{ mcpServers: { "a/b": { command: "c" } } }, ["mcpServers", "a/b"], /"a\/b".*slash/],
  [{ ...server({}), ...pasted({}) }, atPasted(), /another server, "a"/],
  [{ mcpServers: { a: { command: "x" }, A: { command: "x" } } }, ["mcpServers", "A"], /another server, "a"/],
  [remote({ url: "ftp://a.b" }), atPasted("url"), /http or https/],
  [remote({ url: "https://me:secret@a.b" }), atPasted("url"), /credentials/],
  ...["Content-Length", "transfer-encoding", "Upgrade", "MCP-Session-Id"].map(
    (name): WrongValue => [remote({ headers: { [name]: "1" } }), atPasted("headers", name), /connection/],
  ),
];
