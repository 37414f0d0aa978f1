import { isRecord } from "../data/parse-json.ts";
import type { CatchTemplates } from "../expressions/bundle-templates.ts";
import type { Thrown } from "./returned-value.mjs";

/** A JSON-RPC error. */
export interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

/** JSON-RPC's "Internal error". */
export const internalErrorCode = -32603;
const generalMessage = "The tool failed.";

/** The answer to an error that no entry of `catches` matches. It reveals nothing to the client. */
export const createGeneralError = (): RpcError => ({ code: internalErrorCode, message: generalMessage });

type Scope = Readonly<Record<string, unknown>>;

/** `error` as templates see it; all three keys are always present. */
function readThrown({ code, message, data }: Thrown) {
  let value: unknown = null;
  try {
    if (data !== undefined) value = JSON.parse(data);
  } catch {
    // A hostile child process can send invalid JSON.
  }
  return { code: code ?? null, message, data: value };
}

/** A condition that fails to evaluate does not hold. */
function holds({ when }: CatchTemplates, scope: Scope): boolean {
  if (when === undefined) return true;
  try {
    return when.evaluate(scope) === true;
  } catch {
    return false;
  }
}

const isCatchAll = ({ code, when }: CatchTemplates) => code === undefined && when === undefined;

function toCode(value: unknown): number {
  const code = typeof value === "string" && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof code === "number" && Number.isSafeInteger(code) ? code : internalErrorCode;
}

function toMessage(value: unknown): string {
  if (value === undefined || value === null) return generalMessage;
  return typeof value === "string" ? value : JSON.stringify(value);
}

function fillError({ error }: CatchTemplates, scope: Scope): RpcError {
  try {
    const answer = error.evaluate(scope);
    const { code, message, data } = isRecord(answer) ? answer : ({} as Record<string, unknown>);
    return {
      code: toCode(code),
      message: toMessage(message),
      ...(data === undefined || data === null ? {} : { data }),
    };
  } catch {
    return createGeneralError();
  }
}

/**
 * The answer of the first entry of `catches` that matches what was thrown; `undefined` if none does. Entries with
 * neither code nor condition are tried last, and only they match an error without a code.
 */
export function catchError(
  catches: readonly CatchTemplates[],
  thrown: Thrown,
  request: object,
): RpcError | undefined {
  const scope = { error: readThrown(thrown), request };
  const { code } = thrown;
  const fits = (one: CatchTemplates) =>
    !isCatchAll(one) && (one.code === undefined || one.code === String(code)) && holds(one, scope);
  const found = (code === undefined ? undefined : catches.find(fits)) ?? catches.find(isCatchAll);
  return found === undefined ? undefined : fillError(found, scope);
}
