const text = { type: "string", minLength: 1 };
const texts = { type: "array", items: { type: "string" } };
const author = {
  type: "object",
  properties: { name: text, email: text, url: text },
  required: ["name"],
  additionalProperties: false,
};
const closed = (properties: object, required: readonly string[]) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const oneServer = (server: object) => ({
  type: "object",
  additionalProperties: server,
  minProperties: 1,
  maxProperties: 1,
});
const npx = { const: "npx" };
const variables = { type: "object", additionalProperties: { type: "string" } };
const metadata = {
  version: text,
  description: text,
  homepage: text,
  repository: text,
  license: text,
  keywords: texts,
  author,
};

/** What is written in each format: as strict as the format itself, or stricter. */
export const shapes = {
  agentPlugin: closed(
    {
      $schema: { const: "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json" },
      name: { type: "string", maxLength: 64, pattern: "^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$" },
      ...metadata,
      extensions: { type: "object", additionalProperties: { type: "object" } },
    },
    ["$schema", "name", "version"],
  ),
  agentPluginServers: closed(
    {
      $schema: { const: "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json" },
      mcpServers: oneServer(
        closed({ type: { const: "stdio" }, command: npx, args: texts }, ["type", "command", "args"]),
      ),
    },
    ["$schema", "mcpServers"],
  ),
  claudePlugin: closed(
    {
      name: { type: "string", maxLength: 64, pattern: "^[a-z0-9]+(?:-[a-z0-9]+)*$" },
      ...metadata,
      mcpServers: oneServer(closed({ command: npx, args: texts, env: variables }, ["command", "args"])),
      userConfig: {
        type: "object",
        propertyNames: { pattern: "^[A-Za-z_][A-Za-z0-9_]*$" },
        additionalProperties: closed(
          { type: { const: "string" }, title: text, description: text, sensitive: { type: "boolean" } },
          ["type", "title", "description"],
        ),
      },
      network: closed({ hosts: texts }, ["hosts"]),
    },
    ["name", "version", "mcpServers"],
  ),
  serverJson: closed(
    {
      $schema: { const: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json" },
      name: { type: "string", minLength: 3, maxLength: 200, pattern: "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$" },
      description: { type: "string", minLength: 1, maxLength: 100 },
      version: { type: "string", minLength: 1, maxLength: 255 },
      repository: closed({ url: text, source: text }, ["url", "source"]),
      websiteUrl: text,
      packages: {
        type: "array",
        minItems: 1,
        maxItems: 1,
        items: closed(
          {
            registryType: { const: "npm" },
            identifier: text,
            version: { type: "string", minLength: 1, maxLength: 255 },
            runtimeHint: npx,
            transport: closed({ type: { const: "stdio" } }, ["type"]),
            environmentVariables: {
              type: "array",
              items: closed({ name: text, description: text, isSecret: { type: "boolean" } }, ["name"]),
            },
          },
          ["registryType", "identifier", "version", "transport"],
        ),
      },
      _meta: { type: "object" },
    },
    ["$schema", "name", "description", "version", "packages"],
  ),
} as const;
