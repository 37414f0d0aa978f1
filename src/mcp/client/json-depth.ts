const quotation = 0x22;
const backslash = 0x5c;

function skipString(json: Buffer, opening: number): number {
  let end = opening;
  for (;;) {
    end = json.indexOf(quotation, end + 1);
    if (end === -1) return json.length;
    let backslashes = 0;
    while (json[end - 1 - backslashes] === backslash) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
}

/** Whether arrays and objects in the JSON text are nested deeper than `limit`, which could overflow the stack later. */
export function nestsDeeper(json: Buffer, limit: number): boolean {
  if (json.length <= limit) return false;
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === quotation) at = skipString(json, at);
    else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > limit) return true;
    } else if (byte === 0x5d || byte === 0x7d) depth--;
  }
  return false;
}
