import { AttachmentPrimitive, ComposerPrimitive, useAui, useAuiEvent, useAuiState } from "@assistant-ui/react";
import { useEffect, useRef, useState, type ReactElement } from "react";
import { LARGEST_FILE, refusalOf } from "../conversation/files";
import { visible } from "../turn/visible";
import { Icon } from "./Icon";
import { escapes, repeats } from "./keys";

const TOGETHER = "These files are too large together: a message takes up to 2.9 MB. Remove one.";

/** Where the user writes: Enter sends, Shift+Enter begins a line, Esc stops what is under way. */
export function Composer({ modes, running, placeholder, onStop }: { modes: readonly string[]; running: boolean; placeholder: string; onStop: () => void }): ReactElement {
  const [focused, setFocused] = useState(false);
  const [refusals, setRefusals] = useState<readonly string[]>([]);
  const refuse = (why: string): void => setRefusals((before) => [...new Set([...before, why])]);
  useAuiEvent("composer.attachmentAddError", ({ message }) => refuse(message));
  useAuiEvent("composer.send", () => setRefusals([]));
  const input = useRef<HTMLTextAreaElement>(null);
  const aui = useAui();
  const attached = useAuiState((state) => state.composer.attachments);
  const size = attached.reduce((sum, each) => sum + (each.file?.size ?? 0), 0);
  useEffect(() => {
    if (attached.length) input.current?.focus(); // a file comes with a question
  }, [attached.length]);
  useEffect(() => {
    for (const { id, file } of attached) {
      const why = file ? refusalOf(file, modes) : "";
      if (!why) continue;
      refuse(why); // chosen before the agent's card was read
      void aui.composer().attachment({ id }).remove();
    }
  }, [aui, attached, modes]);
  return (
    <ComposerPrimitive.Root className={`composer ${focused ? "focused" : ""}`} onFocus={() => setFocused(true)} onBlur={() => setFocused(false)}>
      <ComposerPrimitive.AttachmentDropzone className="dropzone">
        {(refusals.length > 0 || size > LARGEST_FILE) && (
          <p className="problem" role="alert">
            {[...refusals.map(visible), size > LARGEST_FILE ? TOGETHER : ""].join(" ").trim()}
          </p>
        )}
        <div className="attached">
          <ComposerPrimitive.Attachments components={{ Attachment: Attached }} />
        </div>
        <ComposerPrimitive.Input ref={input} className="input" dir="auto" placeholder={placeholder} aria-label="Message" rows={1} maxRows={10} autoFocus cancelOnEscape={false} onKeyDown={(event) => running && escapes(event) && onStop()} />
        <div className="row">
          <ComposerPrimitive.AddAttachment className="quiet" aria-label="Add a file" title="Add a file">
            <Icon name="clip" />
          </ComposerPrimitive.AddAttachment>
          <span className="keys" aria-hidden="true">
            {running ? "Esc stops" : "Enter sends, Shift+Enter begins a line"}
          </span>
          {running ? (
            <button type="button" className="round stop" onClick={(event) => !repeats(event) && onStop()} aria-label="Stop" title="Stop">
              <Icon name="stop" />
            </button>
          ) : (
            <ComposerPrimitive.Send className="round" aria-label="Send" title="Send">
              <Icon name="send" />
            </ComposerPrimitive.Send>
          )}
        </div>
      </ComposerPrimitive.AttachmentDropzone>
    </ComposerPrimitive.Root>
  );
}

function Attached(): ReactElement {
  return (
    <AttachmentPrimitive.Root className="file">
      <Icon name="file" />
      <span className="label">
        <AttachmentPrimitive.Name />
      </span>
      <AttachmentPrimitive.Remove className="quiet" aria-label="Remove the file">
        <Icon name="cross" />
      </AttachmentPrimitive.Remove>
    </AttachmentPrimitive.Root>
  );
}
