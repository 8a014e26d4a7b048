import { memo, useState, type ReactElement, type ReactNode } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import rehypeSanitize from "rehype-sanitize";
import remarkGfm from "remark-gfm";
import { visible } from "../turn/visible";
import { CopyButton } from "./CopyButton";
import { Icon } from "./Icon";

const LONGEST_LINE = 20_000;
const LONGEST_TEXT = 300_000;
const SHOWN_FIRST = 20_000;

/** Markdown of an agent. HTML in it is text; a picture of another origin is a link; a link to a script is none. */
export function Markdown({ text }: { text: string }): ReactElement {
  if (tooLarge(text)) return <PlainText text={text} />;
  return (
    <div className="markdown">
      {sections(text).map((section, index) => (
        <Section key={index} text={section} />
      ))}
    </div>
  );
}

const Section = memo(function Section({ text }: { text: string }): ReactElement {
  return (
    <ReactMarkdown remarkPlugins={[remarkGfm]} remarkRehypeOptions={FOOTNOTES} rehypePlugins={[rehypeSanitize, directions, seen]} components={COMPONENTS}>
      {visible(text)}
    </ReactMarkdown>
  );
});

/** There are no links inside the page: its address names the conversation. */
const FOOTNOTES = { footnoteBackContent: () => [] };

interface Block {
  type: string;
  properties?: { dir?: string };
}

/** Each block runs in the direction of its own first letter: one answer may hold several languages. */
function directions() {
  return ({ children }: { children: Block[] }): void => {
    for (const block of children) if (block.type === "element") block.properties = { ...block.properties, dir: "auto" };
  };
}

interface Node {
  value?: string;
  properties?: { alt?: string; id?: string };
  children?: Node[];
}

/**
 * Markdown can also write a character by its number, as in `&#x202e;`: it is written out like one that stands there itself.
 * No element has an id: footnotes of two answers would have the same ones.
 */
function seen() {
  return function see(node: Node): void {
    if (node.value !== undefined) node.value = visible(node.value);
    if (node.properties?.id) delete node.properties.id;
    if (node.properties?.alt) node.properties.alt = visible(node.properties.alt);
    for (const child of node.children ?? []) see(child);
  };
}

/** What would keep the browser busy for seconds is shown as it is, its beginning first. */
function PlainText({ text }: { text: string }): ReactElement {
  const [whole, setWhole] = useState(false);
  const shown = whole ? text : text.slice(0, SHOWN_FIRST);
  return (
    <div className="plain-text">
      <p className="hint">This text is too large to be laid out as a document ({text.length.toLocaleString("en")} characters).</p>
      <pre tabIndex={0}>{visible(shown)}</pre>
      {!whole && text.length > SHOWN_FIRST && (
        <button type="button" className="soft" onClick={() => setWhole(true)}>
          Show all of it
        </button>
      )}
    </div>
  );
}

function tooLarge(text: string): boolean {
  return text.length > LONGEST_TEXT || (text.length > LONGEST_LINE && text.split("\n").some((line) => line.length > LONGEST_LINE));
}

/** A footnote, or the address of a link, that is named elsewhere in the text. */
const DEFINITION = /^ {0,3}\[[^\]]+\]:/m;

/** The parts between headings: while an answer grows, those above its end are not drawn again. */
export function sections(text: string): string[] {
  if (DEFINITION.test(text)) return [text];
  const found: string[] = [];
  let fence = "";
  let lines: string[] = [];
  for (const line of text.split("\n")) {
    const mark = /^ {0,3}(```+|~~~+)/.exec(line)?.[1] ?? "";
    if (mark && !fence) fence = mark;
    else if (mark && fence && mark.startsWith(fence)) fence = "";
    if (!fence && /^#{1,6} /.test(line) && lines.length) {
      found.push(lines.join("\n"));
      lines = [];
    }
    lines.push(line);
  }
  return [...found, lines.join("\n")];
}

const COMPONENTS: Components = {
  a: ({ href, children }) => <Link href={href ?? ""}>{children}</Link>,
  img: ({ src, alt }) => <Link href={typeof src === "string" ? src : ""}>{alt || "picture"}</Link>,
  pre: ({ children }) => <>{children}</>,
  code: ({ className, children, node }) => <Code language={/language-([\w+#-]+)/.exec(className ?? "")?.[1] ?? ""} text={textIn(children)} block={isBlock(node)} />,
  table: ({ children, dir }) => (
    <div className="table" dir={dir} tabIndex={0} role="region" aria-label="Table">
      <table>{children}</table>
    </div>
  ),
  input: ({ checked }) => <span role="img" aria-label={checked ? "done" : "not done"}>{checked ? "☑" : "☐"}</span>,
  h1: ({ children, dir }) => <h3 dir={dir}>{children}</h3>,
  h2: ({ children, dir }) => <h3 dir={dir}>{children}</h3>,
  h3: ({ children, dir }) => <h4 dir={dir}>{children}</h4>,
  h4: ({ children, dir }) => <h5 dir={dir}>{children}</h5>,
};

function textIn(children: ReactNode): string {
  return Array.isArray(children) ? children.map(textIn).join("") : String(children ?? "");
}

function isBlock(node: { position?: { start: { line: number }; end: { line: number } } | undefined; children?: { type: string; value?: string }[] } | undefined): boolean {
  const text = node?.children?.[0]?.value ?? "";
  return text.endsWith("\n") || (node?.position?.start.line ?? 0) !== (node?.position?.end.line ?? 0);
}

function Code({ language, text, block }: { language: string; text: string; block: boolean }): ReactElement {
  if (!block) return <code dir="ltr">{text}</code>;
  return (
    <figure className="code">
      <figcaption>
        <span>{language || "text"}</span>
        <CopyButton text={text.replace(/\n$/, "")} what="code" />
      </figcaption>
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  );
}

function Link({ href, children }: { href: string; children: ReactNode }): ReactElement {
  if (/^https?:\/\//i.test(href)) {
    return (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow" title={href}>
        {children}
      </a>
    );
  }
  if (!href || href.startsWith("#") || /^[a-z][\w+.-]*:/i.test(href)) return <span>{children}</span>;
  return (
    <span className="document" title={href}>
      <Icon name="source" />
      {children}
    </span>
  );
}
