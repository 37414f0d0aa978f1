import { createWriteStream, type WriteStream } from "node:fs";
import type { ProcessLog } from "./process-port.ts";

/** See `ProcessPort.openLog`. Buffers up to `limitBytes`, so that a slow disk does not block the server. */
export function openServerLog(file: string, limitBytes: number): ProcessLog {
  let stream: WriteStream | undefined;
  let left = limitBytes;
  let finished: Promise<void> = Promise.resolve();

  const open = (): WriteStream => {
    const opened = createWriteStream(file, { flags: "a", mode: 0o600 });
    finished = new Promise((resolve) => {
      opened.on("close", resolve);
    });
    opened.on("error", () => {
      left = 0;
    });
    return opened;
  };
  return {
    write(text) {
      if (left <= 0 || text === "") return;
      stream ??= open();
      const bytes = Buffer.from(text);
      if (bytes.length <= left) {
        stream.write(bytes);
        left -= bytes.length;
        return;
      }
      stream.write(bytes.subarray(0, left));
      stream.write(`\n[trailblaze: output after ${limitBytes} bytes is dropped]\n`);
      left = 0;
    },
    end() {
      stream?.end();
      return finished;
    },
  };
}
