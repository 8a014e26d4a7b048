import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";

const PACKAGE = /^(.*\/node_modules\/((?:@[^/]+\/)?[^/]+))\//;

/** Writes the licences of the packages whose code is in the build, beside it. */
export function licences(): Plugin {
  return {
    name: "licences",
    generateBundle(_, bundle) {
      const folders = new Map<string, string>();
      for (const file of Object.values(bundle)) {
        for (const id of file.type === "chunk" ? file.moduleIds : []) {
          const found = PACKAGE.exec(id.replaceAll("\\", "/").replace("\0", ""));
          if (found?.[1] && found[2]) folders.set(found[2], found[1]);
        }
      }
      const texts = [...folders].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, folder]) => entry(name, folder));
      this.emitFile({ type: "asset", fileName: "page/licences.txt", source: texts.join(`\n${"-".repeat(80)}\n\n`) });
    },
  };
}

function entry(name: string, folder: string): string {
  const about = JSON.parse(readFileSync(join(folder, "package.json"), "utf-8")) as { version: string; license?: string; author?: string | { name: string } };
  const file = readdirSync(folder).find((each) => /^(licen[sc]e|copying)(\.|$)/i.test(each));
  const text = file && existsSync(join(folder, file)) ? readFileSync(join(folder, file), "utf-8").replaceAll("\r\n", "\n").trim() : "";
  const author = typeof about.author === "string" ? about.author : (about.author?.name ?? `the authors of ${name}`);
  const shown = text || (about.license === "MIT" ? `Copyright (c) ${author}\n\n${MIT}` : "");
  if (!shown) throw new Error(`${name} comes without the text of its licence`);
  return `${name} ${about.version}\n${about.license ?? "see below"}\n\n${shown}\n`;
}

/** For packages that name this licence without its text. */
const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software
is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES
OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE
LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR
IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;
