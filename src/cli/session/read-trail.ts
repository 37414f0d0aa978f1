import { readFileSync } from "node:fs";
import { positionAt } from "../../data/line-index.ts";
import { DataSyntaxError, describeType, isRecord } from "../../data/parse-json.ts";
import { parseYaml } from "../../data/parse-yaml.ts";
import { failure, type Path, quote, TrailblazeError } from "../../problems/index.ts";

/** One call of a trail. */
export interface TrailStep {
  tool: string;
  arguments: Record<string, unknown>;
}

const hint = "Write the trail as a YAML array of calls: `- tool_name: { argument: value }`.";

/** Reads a trail. Throws `TrailblazeError` `InvalidArguments` with line and column. */
export function readTrail(file: string): TrailStep[] {
  try {
    return parseTrail(readFileSync(file), file);
  } catch (error) {
    if (error instanceof TrailblazeError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") {
      const reason = `The trail ${quote(file, 400)} does not exist`;
      throw failure("InvalidArguments", {
        reason,
        hint: "Record one: `trailblaze call TOOL --record FILE`.",
      });
    }
    throw failure("InvalidArguments", { reason: `Cannot read the trail ${quote(file, 400)}: ${code}` });
  }
}

/** Parses a trail. Throws `TrailblazeError` `InvalidArguments` with line and column. */
export function parseTrail(bytes: Uint8Array, file: string): TrailStep[] {
  let data: ReturnType<typeof parseYaml>;
  try {
    data = parseYaml(bytes);
  } catch (error) {
    if (!(error instanceof DataSyntaxError)) throw error;
    const { text, offset, message } = error;
    const position = text === undefined || offset === undefined ? {} : positionAt(text, offset);
    const reason = `The trail is not valid YAML: ${message}`;
    throw failure("InvalidArguments", { reason, hint }, { file, ...position });
  }
  const fail = (reason: string, path: Path): never => {
    throw failure("InvalidArguments", { reason, hint }, { file, path, ...data.locate(path) });
  };
  const { value } = data;
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value)) return fail(`The trail must be an array, not ${describeType(value)}`, []);
  return value.map((step: unknown, index): TrailStep => {
    const entries = isRecord(step) ? Object.entries(step) : [];
    const [first] = entries;
    if (first === undefined || entries.length > 1) {
      return fail(`Step ${index + 1} must be one tool with its arguments`, [index]);
    }
    const [tool, args] = first;
    if (args !== null && !isRecord(args)) {
      return fail(`The arguments of ${quote(tool)} must be an object, not ${describeType(args)}`, [
        index,
        tool,
      ]);
    }
    return { tool, arguments: args ?? {} };
  });
}
