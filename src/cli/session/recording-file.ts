import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from "node:fs";
import { failure, quote, TrailblazeError } from "../../problems/index.ts";
import { formatRecording, type RecordedCall } from "../../session/session-tool.ts";
import { parseTrail } from "./read-trail.ts";

/** A file that calls are appended to. */
export interface RecordingFile {
  append(calls: readonly RecordedCall[]): Promise<void>;
  /** Removes the file if it is new and still empty. Idempotent. */
  close(): void;
}

function endsWithinLine(descriptor: number): boolean {
  const { size } = fstatSync(descriptor);
  const last = Buffer.alloc(1);
  return size > 0 && readSync(descriptor, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a;
}

function open(file: string): { descriptor: number; isNew: boolean } {
  const flags = constants.O_APPEND | constants.O_RDWR | constants.O_CREAT;
  try {
    return { descriptor: openSync(file, flags | constants.O_EXCL), isNew: true };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return { descriptor: openSync(file, flags), isNew: false };
  }
}

/** Throws if the file is not a trail that a call can be appended to. */
function checkTrail(descriptor: number, file: string): void {
  if (!fstatSync(descriptor).isFile()) return;
  const next = Buffer.from("\n- next: {}\n");
  try {
    parseTrail(Buffer.concat([readFileSync(descriptor), next]), file);
  } catch (error) {
    if (!(error instanceof TrailblazeError)) throw error;
    const hint = "Pass a new file, or a YAML array of calls: `- tool_name: { argument: value }`.";
    const reason = `Cannot append to ${quote(file, 400)}: not a trail`;
    throw failure("InvalidArguments", { reason, hint });
  }
}

/** Opens the file for `--record`. Throws `TrailblazeError` `InvalidArguments`, as do its methods. */
export function openRecordingFile(file: string): RecordingFile {
  const attempt = <Value>(run: () => Value): Value => {
    try {
      return run();
    } catch (error) {
      if (error instanceof TrailblazeError) throw error;
      const { code, message } = error as NodeJS.ErrnoException;
      throw failure("InvalidArguments", {
        reason: `Cannot write ${quote(file, 400)}: ${code ?? message}`,
      });
    }
  };
  const { descriptor, isNew } = attempt(() => open(file));
  try {
    if (!isNew) attempt(() => checkTrail(descriptor, file));
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  let isEmpty = isNew;
  let isOpen = true;
  return {
    async append(calls) {
      const text = await formatRecording(calls);
      if (text === "") return;
      attempt(() => {
        const bytes = Buffer.from(endsWithinLine(descriptor) ? `\n${text}` : text);
        for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
      });
      isEmpty = false;
    },
    close() {
      if (!isOpen) return;
      isOpen = false;
      closeSync(descriptor);
      if (isEmpty) rmSync(file, { force: true });
    },
  };
}
