// The one module that writes to stdout and stderr. stdout belongs to machines and to the answer, stderr to everything
// else that people read.
import type { TextStyle } from "./command.ts";
import { formatJson } from "./format-json.ts";

type Stream = NodeJS.WriteStream;

/** Colour and width of a stream: both only for a terminal, colour only without `NO_COLOR`. */
function styleOf(stream: Stream): TextStyle {
  const color = stream.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb";
  return { color, width: stream.isTTY ? stream.columns || undefined : undefined };
}

function writeLine(stream: Stream, text: string): void {
  stream.write(text === "" || text.endsWith("\n") ? text : `${text}\n`);
}

export const output = {
  stdoutStyle: (): TextStyle => styleOf(process.stdout),
  stderrStyle: (): TextStyle => styleOf(process.stderr),
  /** The answer itself. */
  answer: (text: string): void => writeLine(process.stdout, text),
  json: (document: unknown): void => writeLine(process.stdout, formatJson(document)),
  /** What people should know besides the answer. */
  note: (text: string): void => writeLine(process.stderr, text),
  /** A reader that goes away early, as `head` does, is no failure. */
  tolerateClosedPipe(): void {
    for (const stream of [process.stdout, process.stderr]) {
      stream.on("error", (error: NodeJS.ErrnoException) => {
        if (error.code !== "EPIPE") throw error;
        process.exit();
      });
    }
  },
};
