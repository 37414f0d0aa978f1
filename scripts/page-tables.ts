// The tables of docs/reference.md and docs/clients.md that come from schemas and records: `<!-- table: NAME -->` stands before
// each. `npx vitest run test/docs/tables -u` writes them.
import * as z from "zod/mini";
import extension from "../schema/extension.schema.json" with { type: "json" };
import { bundleEntry, definitionShapes } from "../src/extension-schema/definition-schema.ts";
import { metaKeys, metaTypes } from "../src/extension-schema/meta-keys.ts";
import { type ClientRecord, clients, type PathTemplates } from "../src/install/clients/index.ts";
import { kinds } from "../src/kinds.ts";

type JsonSchema = Record<string, unknown>;

const code = (text: string) => `\`${text}\``;

/** A vertical bar would end the cell. */
const cell = (text: string) => text.replaceAll("|", "\\|");

function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, header.map(() => "---"), ...rows];
  return lines.map((cells) => `| ${cells.map(cell).join(" | ")} |`).join("\n");
}

const plural: Readonly<Record<string, string>> = { string: "strings", object: "objects" };

/** The type of a value: the schema's title if it has one. */
function describeType({ title, enum: values, const: value, anyOf, type, items }: JsonSchema): string {
  if (typeof title === "string") return title;
  if (Array.isArray(values)) return values.map((one) => code(String(one))).join(" or ");
  if (value !== undefined) return code(String(value));
  if (Array.isArray(anyOf)) return [...new Set(anyOf.map(describeType))].join(", or ");
  if (type !== "array") return typeof type === "string" ? type : "any value";
  const entry = describeType((items ?? {}) as JsonSchema);
  return `array of ${plural[entry] ?? entry}`;
}

const { $defs: parts, ...field } = extension as JsonSchema & { $defs: Record<string, JsonSchema> };

/** The properties of an object. Those of the field may refer to its parts. */
function readProperties({ properties = {}, required = [] }: JsonSchema) {
  return Object.entries(properties as Record<string, JsonSchema>).map(([key, written]) => {
    const schema: JsonSchema = { ...parts[String(written.$ref).slice("#/$defs/".length)], ...written };
    if (schema.description === undefined) throw new Error(`The schema does not say what ${key} is for.`);
    return [key, schema, (required as string[]).includes(key)] as const;
  });
}

const formatShape = (shape: JsonSchema) =>
  formatTable(
    ["key", "required", "value", "meaning"],
    readProperties(shape).map(([key, schema, isRequired]) => [
      code(key),
      isRequired ? "yes" : "",
      describeType(schema),
      String(schema.description),
    ]),
  );

const formatField = () =>
  formatTable(
    ["key", "value", "default", "meaning"],
    readProperties(field).map(([key, { type, description, default: fallback }]) => [
      code(key),
      type === "array" ? "array of declarations" : describeType({ type }),
      fallback === undefined ? "none" : code(String(fallback)),
      String(description),
    ]),
  );

const formatDeclarations = () =>
  formatTable(
    ["kind", "key", "meaning"],
    kinds.flatMap((kind) =>
      readProperties(parts[kind] ?? {})
        .filter(([key]) => key !== "name" && key !== "description")
        .map(([key, { description }]) => [kind, code(key), String(description)]),
    ),
  );

const formatMetaKeys = () =>
  formatTable(
    ["key", "value", "default", "meaning"],
    Object.entries(metaKeys).map(([key, { type, fallback, description }]) => [
      code(key),
      metaTypes[type].expected,
      fallback,
      description,
    ]),
  );

const joinPaths = (paths: PathTemplates) => paths.map(code).join(" or ");

/** The paths of a client; a path that systems share is listed once. */
function describeUserFile({ user }: ClientRecord): string {
  const systems = { Linux: user.linux, macOS: user.darwin, Windows: user.win32 };
  const byPath = new Map<string, string[]>();
  for (const [system, paths] of Object.entries(systems)) {
    if (paths === undefined) continue;
    byPath.set(joinPaths(paths), [...(byPath.get(joinPaths(paths)) ?? []), system]);
  }
  if (byPath.size === 0) return "–";
  const [only] = byPath;
  if (only !== undefined && byPath.size === 1 && only[1].length === 3) return only[0];
  return [...byPath].map(([paths, names]) => `${names.join(", ")}: ${paths}`).join("<br>");
}

function describeContainer({ container, newerContainer, isList }: ClientRecord): string {
  const write = (keys: readonly string[]) =>
    code(keys.map((key) => (key.includes(".") ? `"${key}"` : key)).join("."));
  const written = isList ? code(`[[${container.join(".")}]]`) : write(container);
  return newerContainer === undefined ? written : `${written} or ${write(newerContainer)}`;
}

function describeSecrets({ reference, shape }: ClientRecord): string {
  if (reference !== undefined) return code(reference);
  return shape.passedNames === undefined ? "–" : `by name, in ${code(shape.passedNames)}`;
}

const formatClients = () =>
  formatTable(
    [
      "id and aliases",
      "client",
      "format",
      "user's file",
      "project's file",
      "key of the servers",
      "reference to a variable",
    ],
    clients.map((client) => [
      [client.id, ...client.aliases].map(code).join(" "),
      client.name,
      client.format,
      describeUserFile(client),
      client.project === undefined ? "–" : joinPaths(client.project),
      describeContainer(client),
      describeSecrets(client),
    ]),
  );

const shapes = Object.entries({ ...definitionShapes, bundleEntry });

/** What generates each table, by its name. */
export const pageTables: Readonly<Record<string, () => string>> = {
  ...Object.fromEntries(
    shapes.map(([name, build]) => [name, () => formatShape(z.toJSONSchema(build(), { io: "input" }))]),
  ),
  needs: () => formatShape(extension.properties.needs),
  field: formatField,
  declarations: formatDeclarations,
  _meta: formatMetaKeys,
  clients: formatClients,
};
