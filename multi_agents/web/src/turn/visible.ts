/**
 * Text of others as it may be shown.
 *
 * Characters that act on the screen instead of standing on it are written out: escapes of a terminal, those that turn
 * the direction of text, and letters without a glyph, so that a name cannot look like another one. One that chooses the
 * shape of the ideograph before it stays.
 */
const ACTING =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufff8\u{1d173}-\u{1d17a}\u{e0000}-\u{e00ff}\u{e01f0}-\u{e0fff}]|(?<!\p{Ideographic})[\u{e0100}-\u{e01ef}]/gu;

export function visible(text: string): string {
  return text.replace(ACTING, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return `[U+${code.toString(16).toUpperCase().padStart(4, "0")}]`;
  });
}

/** A name on one line, not longer than `most`. */
export function name(text: string, most = 120): string {
  const line = visible(text).replace(/\s+/g, " ").trim();
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
}

/** The last component of a file's name. */
export function fileName(text: string): string {
  return name(text.split(/[\\/]/).at(-1) ?? "") || "file";
}
