export interface LineListeners {
  onLine(line: Buffer): void;
  onTooLong(): void;
}

export class LineDecoder {
  constructor(limitBytes: number, listeners: LineListeners);
  push(chunk: Buffer): void;
}
