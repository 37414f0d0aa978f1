import { deepest, listProperties, mostProperties, type Property } from "../author/docs/list-properties.ts";
import { isRecord } from "../data/parse-json.ts";
import { longestText, shorten } from "../problems/text.ts";
import { type Content, type Html, html, trusted } from "./html.ts";

/** Limit on the bytes of a definition as printed, and on the texts of the table of its schema. */
export const longestDefinition = 64 << 10;

const shortText = 1024;

const constraintNames = [
  "format",
  "minimum",
  "exclusiveMinimum",
  "maximum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "pattern",
  "minItems",
  "maxItems",
  "uniqueItems",
] as const;

const inCode = (text: string): Html => html`<code><bdi>${shorten(text, 400)}</bdi></code>`;

const formatValue = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "");

export const requiredMark: Html = html`<span class="required">required</span>`;

/** The default of a property, and what its values must be like. */
function formatConstraints({ fallback, schema }: Property): Content {
  const known = isRecord(schema) ? schema : {};
  const parts = constraintNames
    .filter((name) => Object.hasOwn(known, name))
    .map((name) => [name, formatValue(known[name])] as const);
  const all = [
    ...(fallback === undefined ? [] : [["Default", JSON.stringify(fallback) ?? ""] as const]),
    ...parts,
  ];
  return (
    (all.length > 0 || known.deprecated === true) &&
    html`<span class="constraints">${known.deprecated === true && "Deprecated. "}${all.map(
      ([name, value], index) => html`${index > 0 && " · "}${name} ${inCode(value)}`,
    )}</span>`
  );
}

/** Whether a property has properties that are too deep to be listed. */
const hasHidden = ({ depth, schema }: Property) =>
  depth === deepest &&
  isRecord(schema) &&
  [schema, schema.items].some((inner) => listProperties(inner).length > 0);

/** The properties of a schema as a table, inner ones below their object. Nothing for a schema without any. */
export function formatSchemaTable(heading: string, schema: unknown): Content {
  const properties = listProperties(schema);
  if (properties.length === 0) return undefined;
  const rows: Html[] = [];
  let size = 0;
  for (const property of properties) {
    const { path, name, depth, type, required, description } = property;
    const row = html`<tr${depth > 1 && trusted(` class="depth-${depth}"`)}><td><span class="depth"><code><bdi>${
      depth > 1 &&
      html`<span class="visually-hidden">${shorten(path.slice(0, path.length - name.length), 400)}</span>`
    }${shorten(name, 400)}</bdi></code>${required && requiredMark}</span></td><td>${inCode(type)}</td><td>${
      description !== "" && html`<span class="text">${shorten(description, shortText)}</span>`
    }${formatConstraints(property)}</td></tr>`;
    size += row.markup.length;
    if (size > longestDefinition) break;
    rows.push(row);
  }
  const isCut =
    rows.length < properties.length || properties.length >= mostProperties || properties.some(hasHidden);
  return html`<h4>${heading}</h4><table class="stack schema"><thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Description</th></tr></thead><tbody>${rows}</tbody></table>${
    isCut &&
    html`<p class="note">The table is not complete, because the schema is too large or too deep. Its definition has the rest.</p>`
  }`;
}

/** A table whose cells are texts. Nothing without rows. */
export function formatTable(
  heading: string,
  columns: readonly string[],
  rows: readonly (readonly Content[])[],
): Content {
  if (rows.length === 0) return undefined;
  return html`${heading !== "" && html`<h4>${heading}</h4>`}<table class="stack"><thead><tr>${columns.map(
    (column) => html`<th scope="col">${column}</th>`,
  )}</tr></thead><tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody></table>`;
}

export const code = inCode;

/** A text with its line breaks. */
export const paragraph = (text: string, name = "text"): Content =>
  text !== "" &&
  html`<p class="${name === "text" ? name : `text ${name}`}">${shorten(text, longestText)}</p>`;

/** The first bytes of a text, without half a character. */
function cut(text: string): string {
  const bytes = Buffer.from(text);
  let end = longestDefinition;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString();
}

/** A definition as JSON that can be opened, cut after 64 KiB. `command` shows all of it. */
export function formatDefinition(definition: unknown, command: string, file: string | null): Html {
  const json = JSON.stringify(definition, null, 2) ?? "";
  const size = Buffer.byteLength(json);
  const isCut = size > longestDefinition;
  return html`<details class="source"><summary>Definition${file !== null && html`<bdi class="mono">${file}</bdi>`}</summary><pre tabindex="0"><bdi>${isCut ? cut(json) : json}</bdi></pre>${
    isCut &&
    html`<p class="note">Cut after 64 KiB of ${Math.ceil(size / 1024)} KiB. Run <code>${command}</code> to see all of it.</p>`
  }</details>`;
}
