import { useEffect, useRef, useState, type KeyboardEvent, type MouseEvent, type RefObject } from "react";

/** Keys and clicks that were meant for what stood here before are not taken for an answer: those of so many milliseconds after it came, and keys after another one. */
const DEAF = 600;

/** Whether a key is one press of Escape: one that is held down, or ends a composition of characters, is meant for nothing here. */
export function escapes(event: KeyboardEvent): boolean {
  return event.key === "Escape" && !event.repeat && !event.nativeEvent.isComposing;
}

/** Whether anything was typed since the page was loaded. */
let typed = false;
addEventListener("keydown", () => (typed = true), { capture: true });

/** When what stands here was drawn first, by the clock of events: on a slow machine a key waits long after it was pressed, and drawing too. */
function useDrawn(): RefObject<number> {
  const drawn = useRef(Infinity);
  useEffect(() => {
    const frame = requestAnimationFrame(() => (drawn.current = performance.now()));
    return () => cancelAnimationFrame(frame);
  }, []);
  return drawn;
}

/** Tells with each key whether it was quiet before, so that the key is meant for what stands here. */
export function useQuiet(): (key: KeyboardEvent) => boolean {
  const since = useDrawn();
  return ({ timeStamp }) => {
    const quiet = timeStamp - since.current >= DEAF;
    if (since.current < timeStamp) since.current = timeStamp;
    return quiet;
  };
}

/** Tells of an Enter whether it was meant for the input, in which somebody was `writing` when this came in its place. */
export function useLateEnter(writing: boolean): (key: KeyboardEvent) => boolean {
  const drawn = useDrawn();
  const [begun] = useState(writing && typed);
  return ({ key, timeStamp }) => begun && key === "Enter" && timeStamp - drawn.current < DEAF;
}

/** From when on, by the clock of events, a click is meant for what stands here, and not for what stood here before; Infinity until then. */
export function useAwake(): number {
  const [since, wake] = useState(Infinity);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const frame = requestAnimationFrame(() => (timer = setTimeout(() => wake(performance.now()), DEAF)));
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, []);
  return since;
}

/** Whether a click is the second one of a double click, whose first one was meant for what stood here before. */
export function repeats({ detail }: MouseEvent): boolean {
  return detail > 1;
}
