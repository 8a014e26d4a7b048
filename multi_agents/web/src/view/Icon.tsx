import type { ReactElement } from "react";

const PATHS = {
  plus: "M12 5v14M5 12h14",
  menu: "M4 7h16M4 12h16M4 17h16",
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M7 7h10v10H7z",
  copy: "M9 9h10v10H9zM5 15V5h10",
  check: "M5 12.5l4.5 4.5L19 7.5",
  cross: "M6 6l12 12M18 6L6 18",
  retry: "M19 12a7 7 0 1 1-2.1-5M19 4v4h-4",
  pencil: "M5 19l1-4L16 5l3 3L9 18z",
  bin: "M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13",
  save: "M12 4v11M7 11l5 5 5-5M5 20h14",
  code: "M9 7l-5 5 5 5M15 7l5 5-5 5",
  theme: "M12 4a8 8 0 1 0 0 16zM12 4a8 8 0 0 1 0 16",
  clip: "M17 8l-7.5 7.5a2.1 2.1 0 0 0 3 3L20 11a4.2 4.2 0 0 0-6-6l-7.7 7.7a6.3 6.3 0 0 0 9 9",
  file: "M7 3h7l5 5v13H7zM14 3v5h5",
  chevron: "M9 6l6 6-6 6",
  down: "M12 5v14M6 13l6 6 6-6",
  source: "M6 4h9l3 3v13H6zM9 10h6M9 14h6",
  warn: "M12 4l9 16H3zM12 10v5M12 17.5v.5",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }): ReactElement {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
