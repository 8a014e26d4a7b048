import { useEffect, useState, type ReactElement } from "react";
import { Icon } from "./Icon";

/** Copies a text, and says so for a moment. */
export function CopyButton({ text, what, label }: { text: string; what: string; label?: string }): ReactElement {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = (): void => void navigator.clipboard.writeText(text).then(() => setCopied(true));
  return (
    <button type="button" className="quiet" onClick={copy} aria-label={copied ? "Copied" : `Copy ${what}`} title={`Copy ${what}`}>
      <Icon name={copied ? "check" : "copy"} />
      {label && <span>{copied ? "Copied" : label}</span>}
    </button>
  );
}
