import { appendFileSync, fstatSync, openSync, readFileSync } from "node:fs";
import { positionAt } from "../../data/line-index.ts";
import { DataSyntaxError, isRecord } from "../../data/parse-json.ts";
import { createYamlLocator, parseYaml } from "../../data/parse-yaml.ts";
import { failure, type ProblemPlace, quote, TrailblazeError } from "../../problems/index.ts";

const hint = "Write the trail as a YAML array of calls: `- tool_name: { argument: value }`.";

/** Throws `InvalidArguments`, with line and column if a step or the YAML is wrong. */
export function readTrail(file: string) {
  try {
    return parseTrail(readFileSync(file), file);
  } catch (error) {
    if (error instanceof TrailblazeError) throw error;
    const reason = `Cannot read the trail ${quote(file, 400)}: ${(error as Error).message}`;
    throw failure("InvalidArguments", { reason, hint: "Record one: `trailblaze call TOOL --record FILE`." });
  }
}

function parseTrail(bytes: Uint8Array, file: string) {
  const invalid = (reason: string, place: ProblemPlace = {}) =>
    failure("InvalidArguments", { reason, hint }, { file, ...place });
  let data: ReturnType<typeof parseYaml>;
  try {
    data = parseYaml(bytes);
  } catch (error) {
    if (!(error instanceof DataSyntaxError)) throw error;
    const { text, offset, message } = error;
    const place = text === undefined || offset === undefined ? {} : positionAt(text, offset);
    throw invalid(`The trail is not valid YAML: ${message}`, place);
  }
  const value = data.value ?? [];
  if (!Array.isArray(value)) throw invalid("The trail must be an array");
  return value.map((step: unknown, index) => {
    const [call, ...others] = isRecord(step) ? Object.entries(step) : [];
    const [tool, args] = call ?? [];
    if (tool !== undefined && others.length === 0 && (args === null || isRecord(args)))
      return { tool, arguments: args ?? {} };
    throw invalid(`Step ${index + 1} must be one tool with its arguments, which are an object`, {
      path: [index],
      ...createYamlLocator(data.text)([index]),
    });
  });
}

/** Opens a trail to which calls can be added, before one is made. Throws `InvalidArguments`. */
export function openTrail(file: string): { append(calls: string): void } {
  try {
    const descriptor = openSync(file, "a+");
    // Reading a pipe would wait for its other end.
    const before = fstatSync(descriptor).isFile() ? readFileSync(descriptor, "utf8") : "";
    const lineEnd = before === "" || before.endsWith("\n") ? "" : "\n";
    // Whether another call can follow: JSON is a trail, too, but none that grows.
    parseTrail(Buffer.from(`${before}\n- next: {}\n`), file);
    return { append: (calls) => appendFileSync(descriptor, `${lineEnd}${calls}`) };
  } catch (error) {
    const why = error instanceof TrailblazeError ? "not a trail" : (error as Error).message;
    const reason = `Cannot append to ${quote(file, 400)}: ${why}`;
    throw failure("InvalidArguments", { reason, hint: "Pass a new file, or a YAML array of calls." });
  }
}
