// Numbers as CSV, in the form of sinkctl's: RFC 4180, numbers to their last digit, absent values
// empty. Of text, what cannot be seen is written as \x1b or \u{202e}, and what a spreadsheet would
// take for a formula gets a ' before it.

export type Cell = string|number|undefined;

export interface Data {
  columns: string[];
  rows: Cell[][]
}

const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/gu;

function escaped(character: string): string {
  if ('\t\r\n'.includes(character)) return character;
  const code = character.codePointAt(0)!.toString(16);
  return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u{${code}}`;
}

function field(cell: Cell): string {
  if (cell === undefined) return '';
  if (typeof cell === 'number') return String(cell);
  const text = (/^[=+\-@\t\r\n＝＋－＠]/.test(cell) ? '\'' : '') + cell.replace(unseen, escaped);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvText({columns, rows}: Data): string {
  return [columns, ...rows].map((row) => `${row.map(field).join(',')}\r\n`).join('');
}
