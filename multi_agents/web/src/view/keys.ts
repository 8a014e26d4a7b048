import { useRef, type KeyboardEvent } from "react";

/** Keys that were meant for what stood here before are not taken for an answer: those of so many milliseconds after it came, or after another key. */
const DEAF = 600;

/** Whether a key is one press of Escape: one that is held down, or ends a composition of characters, is meant for nothing here. */
export function escapes(event: KeyboardEvent): boolean {
  return event.key === "Escape" && !event.repeat && !event.nativeEvent.isComposing;
}

/** Tells with each key whether it was quiet before, so that the key is meant for what stands here. */
export function useQuiet(): () => boolean {
  const since = useRef(performance.now());
  return () => {
    const quiet = performance.now() - since.current;
    since.current = performance.now();
    return quiet >= DEAF;
  };
}
