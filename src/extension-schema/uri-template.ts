// URI templates of resources: RFC 6570, level 1, so places are `{variable}`. They are matched without regular expressions,
// because templates are packs' strings and URIs are clients'.
/** A parsed template: `literals[0]`, the value of `variables[0]`, `literals[1]`, and so on; the last literal may be empty. */
export interface UriTemplate {
  literals: readonly string[];
  variables: readonly string[];
}

/** Names that handlers could not tell from their other arguments, or that objects treat specially. */
const reservedVariables = new Set(["uri", "__proto__", "constructor", "prototype"]);

/** The characters of a URI. Others are percent-encoded. */
const uriCharacters = /^(?:[A-Za-z0-9._~:/?#[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*$/;

const lacksScheme = (text: string) => !/^[A-Za-z][A-Za-z0-9+.-]*:/.test(text);
const noScheme = 'does not start with a scheme, such as "docs:"';
const maximumLength = 8192;
const tooLong = "is longer than 8,192 characters";
const notEncoded = "contains a character that must be percent-encoded";

/** Continues "`uri` …" for a string that is not an absolute URI; `undefined` for a URI. */
export function explainInvalidUri(uri: string): string | undefined {
  if (uri.length > maximumLength) return tooLong;
  if (lacksScheme(uri)) return noScheme;
  if (!uriCharacters.test(uri)) return notEncoded;
  return URL.canParse(uri) ? undefined : "is not a valid URI";
}

/**
 * Parses a template of an absolute URI. Returns a fault for any other string, which continues "`uriTemplate` …". Two
 * variables need something between them: nothing else says where the first one ends.
 */
export function parseUriTemplate(template: string): UriTemplate | { fault: string } {
  if (template.length > maximumLength) return { fault: tooLong };
  const parts = template.split(/\{([^{}]*)\}/);
  const literals = parts.filter((_, index) => index % 2 === 0);
  const variables = parts.filter((_, index) => index % 2 === 1);
  const isValid = (variable: string, index: number) =>
    /^[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*$/.test(variable) &&
    !reservedVariables.has(variable) &&
    variables.indexOf(variable) === index;
  if (!variables.every(isValid) || literals.some((literal) => /[{}]/.test(literal)))
    return {
      fault:
        "has a place that is not `{variable}`, the only form of level 1 of RFC 6570, with a name of its own",
    };
  if (variables.length === 0) return { fault: "has no `{variable}`" };
  if (literals.slice(1, -1).includes("")) return { fault: "has two variables with nothing between them" };
  if (lacksScheme(literals[0] ?? "")) return { fault: noScheme };
  return literals.every((literal) => uriCharacters.test(literal))
    ? { literals, variables }
    : { fault: notEncoded };
}

/** The value of a variable, which is percent-encoded UTF-8; `undefined` if it is not. */
function decode(written: string): string | undefined {
  try {
    return written === "" || written.includes("/") ? undefined : decodeURIComponent(written);
  } catch {
    return undefined;
  }
}

/** Whether a value leads to another folder as part of a path, or ends the path early. */
const leadsElsewhere = (value: string) =>
  value.includes("/") || value.includes("\0") || /(?:^|\\)\.\.?(?:\\|$)/.test(value);

/**
 * The decoded variables of a URI, as RFC 6570 expands them; `undefined` if the template does not match. A variable is not
 * empty, and is valid percent-encoded UTF-8. Of several ways to match, the first variables are the shortest.
 */
export function readVariables(
  { literals, variables }: UriTemplate,
  uri: string,
): [name: string, value: string][] | undefined {
  const [first = "", ...others] = literals;
  if (!uri.startsWith(first)) return undefined;
  const values: [string, string][] = [];
  let start = first.length;
  for (const [index, variable] of variables.entries()) {
    const literal = others[index] ?? "";
    const isLast = index === variables.length - 1;
    if (isLast && !uri.endsWith(literal)) return undefined;
    const end = isLast ? uri.length - literal.length : uri.indexOf(literal, start + 1);
    const value = end < start ? undefined : decode(uri.slice(start, end));
    if (value === undefined) return undefined;
    values.push([variable, value]);
    start = end + literal.length;
  }
  return values;
}

/**
 * The same for the code of a pack: a variable contains no `/` and no NUL, also after decoding. Neither is it `.` or `..`, nor
 * has it such a segment between backslashes.
 */
export function matchUriTemplate(template: UriTemplate, uri: string): Record<string, string> | undefined {
  const values = readVariables(template, uri);
  return values?.some(([, value]) => leadsElsewhere(value)) === false
    ? Object.fromEntries(values)
    : undefined;
}

/** Equal for templates that match the same URIs. */
export const identifyTemplate = ({ literals }: Pick<UriTemplate, "literals">): string => literals.join("{}");

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
