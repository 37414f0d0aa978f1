/** Entries per page of a list. */
const pageSize = 100;

/** A page of a list, or `undefined` for an invalid cursor. */
export function readPage<Entry>(
  entries: readonly Entry[],
  cursor: string | undefined,
): { entries: readonly Entry[]; nextCursor?: string } | undefined {
  const start = cursor === undefined ? 0 : parseCursor(cursor);
  if (start === undefined || (cursor !== undefined && start >= entries.length)) return undefined;
  const end = start + pageSize;
  const page = entries.slice(start, end);
  return end < entries.length ? { entries: page, nextCursor: formatCursor(end) } : { entries: page };
}

// Encoded, so that clients do not rely on its meaning.
const formatCursor = (offset: number) => Buffer.from(`from:${offset}`).toString("base64url");

function parseCursor(cursor: string): number | undefined {
  const [, digits] = /^from:(\d{1,9})$/.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  const offset = Number(digits);
  return Number.isInteger(offset) && offset > 0 && offset % pageSize === 0 && formatCursor(offset) === cursor
    ? offset
    : undefined;
}
