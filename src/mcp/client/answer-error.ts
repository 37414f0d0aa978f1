import { rpcCode } from "../client-message.ts";

/** An error answer, whose message is the server's, or an invalid answer. */
export class AnswerError extends Error {
  override readonly name = "AnswerError";
  /** The code of the server's error; `undefined` for an invalid answer. */
  readonly code: number | undefined;
  readonly data: unknown;

  constructor(message: string, code?: number, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The code of legacy servers for a URI that they do not know. Modern ones answer with that of invalid parameters. */
const unknownResource = -32002;
/** What servers with general codes say. */
const unknownWords =
  /\b(?:unknown|no such) resource\b|\bresource\b[^\n]{0,2000}\b(?:not found|does not exist|unknown)\b/i;

/** Whether a server's answer to `resources/read` means that it does not know the URI. */
export const saysUnknownResource = ({ code, message }: AnswerError): boolean =>
  code === unknownResource ||
  code === rpcCode.params ||
  (code !== undefined && code !== rpcCode.method && unknownWords.test(message.slice(0, 4000)));
