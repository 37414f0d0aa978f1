import { parseUriTemplate, readVariables } from "../extension-schema/uri-template.ts";

/**
 * Whether a URI may be of a template that a server lists. Templates beyond level 1 of RFC 6570 match by what they begin with,
 * because only their server knows the rest. Pure.
 */
export function fitsServerTemplate(template: string, uri: string): boolean {
  const parsed = parseUriTemplate(template);
  if (!("fault" in parsed)) return readVariables(parsed, uri) !== undefined;
  const place = template.indexOf("{");
  if (place < 0) return template === uri;
  const beginning = template.slice(0, place);
  return beginning.includes(":") && uri.startsWith(beginning);
}
