import type { BuiltInDefinition, SessionConfig } from "../config/session-config.ts";
import { isRecord } from "../data/parse-json.ts";
import type { ServerMember } from "../inspection/server-contents.ts";
import type { InspectedItem } from "../inspection/types.ts";
import type { RunnableTool } from "../runtime/bundle-tools.ts";
import { createEntry, createEntryMeta } from "../runtime/mcp-shapes.ts";
import { placeOfCode, readOptions } from "../runtime/tool-code.ts";
import type { CodeOwner } from "../runtime/tool-source.ts";
import type { ComposedServer } from "./compose-server.ts";

/** A tool of a pack, a built-in, or an entry of a bundle. */
export interface MemberTool extends RunnableTool {
  /** The advertised name. */
  name: string;
  /** `null` for an entry of a bundle. */
  qualifiedName: string | null;
  definition: object;
}

const textOf = (value: unknown, other: string) => (typeof value === "string" ? value : other);

/**
 * The entry of a tool in `tools/list`: MCP's keys, the qualified name, and more keys of `_meta` that the host sets. Those of
 * servers are valid already.
 */
export function describeForClients(
  definition: object,
  qualifiedName: string | null,
  name: string,
  { isValid = false, more = {} }: { isValid?: boolean; more?: object | undefined } = {},
): Record<string, unknown> {
  const { title, description, inputSchema, outputSchema, annotations, icons, execution, _meta } =
    definition as Record<string, unknown>;
  const listing = {
    ...{ name, title, description, annotations, icons, execution },
    // MCP requires `type` in both schemas.
    inputSchema: { type: "object", ...(isRecord(inputSchema) ? inputSchema : {}) },
    outputSchema: isRecord(outputSchema) && Object.keys(outputSchema).length > 0 ? outputSchema : undefined,
    _meta: createEntryMeta(_meta, qualifiedName, more),
  };
  return isValid ? listing : createEntry("tools", listing);
}

function createTool(
  qualifiedName: string,
  definition: Readonly<Record<string, unknown>>,
  owner: CodeOwner,
  { options }: SessionConfig,
  item?: InspectedItem,
): MemberTool[] {
  const handler = placeOfCode(definition.handler, owner.root, "handler", item);
  if (handler === undefined) return [];
  const code = {
    owner,
    handler,
    initialize: placeOfCode(definition.initialize, owner.root, "initialize", item),
    options: readOptions(definition.options, options.get(qualifiedName)),
    inputSchema: isRecord(definition.inputSchema) ? definition.inputSchema : undefined,
    outputSchema: isRecord(definition.outputSchema) ? definition.outputSchema : undefined,
  };
  const name = textOf(definition.name, qualifiedName.slice(qualifiedName.lastIndexOf("/") + 1));
  return [{ name, qualifiedName, definition, code }];
}

/** The tool of a pack, or the built-in; empty if the built-in does not exist. */
export function findMemberTool(
  member: Exclude<ServerMember, { type: "bundle" }>,
  server: ComposedServer,
  { builtIns, config }: { builtIns: readonly BuiltInDefinition[]; config: SessionConfig },
): MemberTool[] {
  if (member.type === "builtIn") {
    const definition = builtIns.find(({ name }) => name === member.name);
    const owner: CodeOwner = { pack: undefined, root: config.directory };
    return definition === undefined ? [] : createTool(member.name, definition, owner, config);
  }
  const { item } = member;
  const { pack } = server.packOf(item);
  return createTool(item.qualifiedName, item.definition ?? {}, { pack, root: pack.location }, config, item);
}
