import { isRecord } from "../data/parse-json.ts";

/** How many issues are listed. */
const mostIssues = 3;

function describeIssue({ path, code, expected, message }: Record<string, unknown>): string {
  const place = Array.isArray(path) && path.length > 0 ? path.join(".") : "The message";
  if (code === "invalid_type" && typeof expected === "string") {
    return `${place} must be ${/^[aeiou]/.test(expected) ? "an" : "a"} ${expected}.`;
  }
  return `${place}: ${String(message)}.`;
}

/** A sentence for an error whose message is a JSON list of schema issues; `undefined` for other errors. */
export function describeSchemaIssues(text: string): string | undefined {
  if (!text.startsWith("[")) return undefined;
  let issues: unknown;
  try {
    issues = JSON.parse(text);
  } catch {
    return undefined;
  }
  const areIssues = (value: unknown): value is Record<string, unknown>[] =>
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((one) => isRecord(one) && Array.isArray(one.path));
  return areIssues(issues) ? issues.slice(0, mostIssues).map(describeIssue).join(" ") : undefined;
}
