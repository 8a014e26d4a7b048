import { useEffect, useState, type ReactElement } from "react";
import { bytes } from "../turn/units";
import { name } from "../turn/visible";
import type { FileShown } from "../turn/parts";
import { Icon } from "./Icon";

const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** Files of a message or an answer: saved by a click; pictures are shown. An SVG is a program, and only saved. */
export function Files({ files }: { files: readonly FileShown[] }): ReactElement | null {
  if (!files.length) return null;
  return (
    <ul className="files" aria-label="Files">
      {files.map((file, index) => (
        <li key={index}>{file.content === undefined ? <Address file={file} /> : <Content file={file} content={file.content} />}</li>
      ))}
    </ul>
  );
}

function Content({ file, content }: { file: FileShown; content: string }): ReactElement {
  const url = useObjectUrl(content, PICTURES.has(file.mediaType) ? file.mediaType : "application/octet-stream");
  return (
    <a className="file" href={url} download={file.name}>
      {PICTURES.has(file.mediaType) && url ? <img src={url} alt={file.name} /> : <Icon name="file" />}
      <Label file={file} />
    </a>
  );
}

function Address({ file }: { file: FileShown }): ReactElement {
  if (!/^https?:\/\//i.test(file.url ?? "")) return <Label file={file} />;
  return (
    <a className="file" href={file.url} target="_blank" rel="noopener noreferrer nofollow">
      <Icon name="file" />
      <Label file={file} />
    </a>
  );
}

function Label({ file }: { file: FileShown }): ReactElement {
  const about = [file.content === undefined ? "at an address" : bytes(file.bytes), name(file.mediaType, 60), file.origin && `from ${name(file.origin, 60)}`];
  return (
    <span className="label">
      <bdi>{file.name}</bdi>
      <small>{about.filter(Boolean).join(" · ")}</small>
    </span>
  );
}

function useObjectUrl(content: string, type: string): string | undefined {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([decoded(content)], { type }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [content, type]);
  return url;
}

function decoded(content: string): ArrayBuffer {
  try {
    return Uint8Array.from(atob(content), (character) => character.charCodeAt(0)).buffer;
  } catch {
    return new ArrayBuffer(0);
  }
}
