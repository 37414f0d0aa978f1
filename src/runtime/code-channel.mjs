// Messages as lines of JSON between the host and the child of `isolation: process`. Plain JavaScript, because both use it.

/**
 * Calls `onLine` with each whole line of a stream, and `onExcess` once where one gets longer than `limit` bytes; nothing
 * is read after that.
 */
export function readLines(stream, limit, onLine, onExcess) {
  let parts = [];
  let length = 0;
  const onData = (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      parts.push(chunk.subarray(start, end));
      const line = parts.length === 1 ? parts[0] : Buffer.concat(parts);
      parts = [];
      length = 0;
      start = end + 1;
      onLine(line.toString("utf8"));
    }
    const rest = chunk.subarray(start);
    if (rest.length === 0) return;
    parts.push(rest);
    length += rest.length;
    if (length <= limit) return;
    parts = [];
    stream.off("data", onData);
    stream.resume();
    onExcess();
  };
  stream.on("data", onData);
}
