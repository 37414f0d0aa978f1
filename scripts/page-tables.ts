// The tables of docs/reference.md and docs/clients.md that come from schemas and records, but for what definitions' keys are for.
// `<!-- table: NAME -->` stands before each. `npx vitest run test/docs/tables -u` writes them.
import * as z from "zod/mini";
import extension from "../schema/extension.schema.json" with { type: "json" };
import { bundleEntry, definitionShapes } from "../src/extension-schema/definition-schema.ts";
import { metaSchema } from "../src/extension-schema/meta-schema.ts";
import { type ClientRecord, clients, type PathTemplates } from "../src/install/clients/index.ts";
import { kinds } from "../src/kinds.ts";
import { findKeys, type JsonSchema, readWords } from "./words.ts";

const code = (text: string) => `\`${text}\``;

/** A vertical bar would end the cell. */
const cell = (text: string) => text.replaceAll("|", "\\|");

function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, header.map(() => "---"), ...rows];
  return lines.map((cells) => `| ${cells.map(cell).join(" | ")} |`).join("\n");
}

const manyOf = (type: string) => type.replace(/^(?:string|object|JSON Schema)$/, "$&s");

/** The type of a value: the schema's title if it has one. */
function describeType(schema: JsonSchema): string {
  const { title, enum: values, const: value, anyOf, type, items, properties, additionalProperties } = schema;
  if (typeof title === "string") return title;
  if (Array.isArray(values)) return values.map((one) => code(String(one))).join(" or ");
  if (value !== undefined) return code(String(value));
  const forms = anyOf ?? schema.oneOf;
  if (Array.isArray(forms)) return [...new Set(forms.map(describeType))].join(", or ");
  if (type === "array") return `array of ${manyOf(describeType((items ?? {}) as JsonSchema))}`;
  const keys = Object.keys(properties ?? {});
  if (keys.length > 0 && keys.length <= 5) return code(`{ ${keys.join(", ")} }`);
  if (Object.keys(additionalProperties ?? {}).length > 0)
    return `object of ${manyOf(describeType(additionalProperties as JsonSchema))} by name`;
  return [type ?? "any value"].flat().join(" or ");
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

const formatRows = (rows: readonly (readonly [string, JsonSchema, boolean, unknown])[]) =>
  formatTable(
    ["key", "required", "value", "meaning"],
    rows.map(([key, schema, isRequired, words]) => [
      code(key),
      isRequired ? "yes" : "",
      describeType(schema),
      String(words),
    ]),
  );

/** The keys of a shape, and those inside of them for which the page has a row. What it says of them stays. */
function formatShape(name: string, build: () => z.core.$ZodType): string {
  const words = new Map(readWords("reference.md", name));
  const keys = [...findKeys(z.toJSONSchema(build(), { io: "input" }))];
  const shown = keys.filter(({ path }) => !/[.[]/.test(path) || words.has(path));
  return formatRows(shown.map(({ path, schema, isRequired }) => [path, schema, isRequired, words.get(path)]));
}

const formatNeeds = () =>
  formatRows(readProperties(extension.properties.needs).map((row) => [...row, row[1].description] as const));

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

const shapes = Object.entries({ ...definitionShapes, bundleEntry, _meta: metaSchema });

/** What generates each table, by its name. */
export const pageTables: Readonly<Record<string, () => string>> = {
  ...Object.fromEntries(shapes.map(([name, build]) => [name, () => formatShape(name, build)])),
  needs: formatNeeds,
  field: formatField,
  declarations: formatDeclarations,
  clients: formatClients,
};
