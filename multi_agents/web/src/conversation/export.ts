/**
 * The open conversation as one HTML file: what stands on the page, with its styles, and without anything that acts.
 *
 * The file says so itself with a policy, so that a browser runs nothing in it and fetches nothing for it.
 */
export async function exportConversation(title: string): Promise<void> {
  const source = document.querySelector("[data-conversation]");
  if (!source) return;
  const copy = source.cloneNode(true) as Element;
  for (const each of copy.querySelectorAll("button, form, svg, .actions, script, style, [hidden]")) each.remove();
  for (const each of copy.querySelectorAll("details")) each.setAttribute("open", "");
  await Promise.all([...copy.querySelectorAll("img, a[download]")].map(inline));
  const page = document.implementation.createHTMLDocument(title);
  const policy = page.createElement("meta");
  policy.setAttribute("http-equiv", "Content-Security-Policy");
  policy.setAttribute("content", "default-src 'none'; style-src 'unsafe-inline'; img-src data:");
  const main = page.createElement("main");
  main.className = "exported";
  const heading = page.createElement("h1");
  heading.append(title);
  main.append(heading, page.importNode(copy, true));
  page.head.prepend(policy);
  page.documentElement.lang = "en";
  page.body.append(main);
  // Written as text: this page's own policy allows no style that is not a file.
  const html = page.documentElement.outerHTML.replace("</head>", () => `<style>${styles()}</style></head>`);
  save(`<!doctype html>\n${html}\n`, `${title.replace(/[^\p{L}\p{N} _-]+/gu, "").trim().slice(0, 60) || "conversation"}.html`);
}

function styles(): string {
  return [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules].map((rule) => rule.cssText)).join("\n");
}

/** Pictures come along; other files are named. */
async function inline(element: Element): Promise<void> {
  if (element.tagName === "A") {
    element.removeAttribute("href");
    return;
  }
  const address = element.getAttribute("src") ?? "";
  const content = address.startsWith("blob:") ? await read(address) : "";
  if (content) element.setAttribute("src", content);
  else element.remove();
}

async function read(address: string): Promise<string> {
  const picture = document.querySelector<HTMLImageElement>(`img[src="${address}"]`);
  if (!picture) return "";
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [picture.naturalWidth, picture.naturalHeight];
  canvas.getContext("2d")?.drawImage(picture, 0, 0);
  return canvas.toDataURL("image/png");
}

function save(content: string, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type: "text/html" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
