import type { BuiltInDefinition, SessionConfig } from "../config/session-config.ts";
import { isRecord } from "../data/parse-json.ts";
import { qualifiedNameKey } from "../extension-schema/meta-keys.ts";
import type { ServerMember } from "../inspection/server-contents.ts";
import type { InspectedItem } from "../inspection/types.ts";
import type { SchemaValidator } from "../json-schema/schema-validator.ts";
import type { EntryCode } from "../runtime/bundle-tools.ts";
import type { CodeRunners } from "../runtime/code-runners.ts";
import { placeOfCode, readOptions } from "../runtime/tool-code.ts";
import type { CodeOwner } from "../runtime/tool-source.ts";
import type { ComposedServer } from "./compose-server.ts";

/** What carrying out calls needs. */
export interface ServeMeans {
  config: SessionConfig;
  runners: CodeRunners;
  validator: SchemaValidator;
  builtIns: readonly BuiltInDefinition[];
  /** Also offer tools that need a session or are not for models. */
  allTools: boolean;
  /** Told what clients are not: why a call failed that answers with a general error. */
  report(message: string): void;
}

/** A tool's code, whoever's it is. */
export interface ToolCode extends EntryCode {
  /** The name it advertises. */
  name: string;
  qualifiedName: string;
  definition: Readonly<Record<string, unknown>>;
}

const textOf = (value: unknown, other: string) => (typeof value === "string" ? value : other);

/** What `tools/list` says: MCP's own keys, and by which name the rest of us know the tool. */
export function describeForClients(
  definition: object,
  qualifiedName: string | null,
  name: string,
): Record<string, unknown> {
  const { title, description, inputSchema, outputSchema, annotations, _meta } = definition as Record<
    string,
    unknown
  >;
  // Whose tool it is, only the host says.
  const { [qualifiedNameKey]: _, ...own } = isRecord(_meta) ? _meta : {};
  const meta = {
    ...own,
    ...(qualifiedName === null ? {} : { [qualifiedNameKey]: qualifiedName }),
  };
  return {
    name,
    ...(typeof title === "string" ? { title } : {}),
    ...(typeof description === "string" ? { description } : {}),
    // MCP wants the type of both to be said.
    inputSchema: { type: "object", ...(isRecord(inputSchema) ? inputSchema : {}) },
    ...(isRecord(outputSchema) && outputSchema.type === "object" ? { outputSchema } : {}),
    ...(isRecord(annotations) ? { annotations } : {}),
    ...(Object.keys(meta).length > 0 ? { _meta: meta } : {}),
  };
}

function createCode(
  qualifiedName: string,
  definition: Readonly<Record<string, unknown>>,
  owner: CodeOwner,
  { options }: SessionConfig,
  item?: InspectedItem,
): ToolCode[] {
  const handler = placeOfCode(definition.handler, owner.root, "handler", item);
  if (handler === undefined) return [];
  return [
    {
      name: textOf(definition.name, qualifiedName.slice(qualifiedName.lastIndexOf("/") + 1)),
      qualifiedName,
      definition,
      inputSchema: isRecord(definition.inputSchema) ? definition.inputSchema : undefined,
      owner,
      handler,
      initialize: placeOfCode(definition.initialize, owner.root, "initialize", item),
      options: readOptions(definition.options, options.get(qualifiedName)),
    },
  ];
}

/** The code of a tool of a pack, or of the host itself; none for a name that is neither. */
export function codeOfMember(
  member: Exclude<ServerMember, { type: "bundle" }>,
  server: ComposedServer,
  { builtIns, config }: ServeMeans,
): ToolCode[] {
  if (member.type === "builtIn") {
    const definition = builtIns.find(({ name }) => name === member.name);
    const owner: CodeOwner = { pack: undefined, root: config.directory };
    return definition === undefined ? [] : createCode(member.name, definition, owner, config);
  }
  const { item } = member;
  const { pack } = server.packOf(item);
  return createCode(item.qualifiedName, item.definition ?? {}, { pack, root: pack.location }, config, item);
}
