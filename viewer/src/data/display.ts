// SPDX-License-Identifier: MIT
// Display: names as they may be shown. They come from foreign programs:
// what would act on the text around it is shown as an escape.

const acting =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

function escapeOne(c: string): string {
  if (c === "\n") return "\\n";
  if (c === "\t") return "\\t";
  const code = c.charCodeAt(0);
  return code < 0x100
    ? "\\x" + code.toString(16).padStart(2, "0")
    : "\\u" + code.toString(16).padStart(4, "0");
}

export function display(text: string, limit = 400): string {
  const cut = text.length > limit ? text.slice(0, limit) + "\u2026" : text;
  return cut.replace(acting, escapeOne);
}
