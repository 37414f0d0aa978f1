import { Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { printableLines } from "../../problems/index.ts";

/** Takes what code of others prints, and hands it on with everything escaped that acts on terminals. */
export function createEscapingStream(write: (text: string) => void): Writable {
  const decoder = new StringDecoder("utf8");
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      write(printableLines(decoder.write(chunk)));
      done();
    },
  });
}
