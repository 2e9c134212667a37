// Hints, goals and errors, said for a few seconds.

import { Icon, type IconName } from "../../ui";
import type { NoticeKind } from "../../wire";
import { useNotices } from "./useNotices";
import type { Notice } from "./useTheatre";

/** How each kind looks. */
export const NOTICE_ICON: Record<NoticeKind, IconName> = {
  info: "info",
  goal: "check",
  hint: "bulb",
  error: "warning",
};
/** How each kind is called, for those who can't see the icon. */
export const NOTICE_WORD: Record<NoticeKind, string> = {
  info: "Note",
  goal: "Goal",
  hint: "Hint",
  error: "Mind",
};

/** The newest of `all`, at the lower rim of the picture; read out by screen readers. */
export function Notices({ all }: { all: readonly Notice[] }) {
  const shown = useNotices(all);
  return (
    <div className="notices" role="log" aria-live="polite" aria-label="Hints">
      {shown.map(({ id, kind, text }) => (
        <p key={id} className={`hud-notice ${kind}`}>
          <Icon name={NOTICE_ICON[kind]} />
          <span className="quietly">{NOTICE_WORD[kind]}: </span>
          {text}
        </p>
      ))}
    </div>
  );
}
