// Notices that come, stay for a while, and go.

import { useEffect, useRef, useState } from "react";
import type { Notice } from "./useTheatre";

/** How long a notice stays, ms (K145). */
export const NOTICE_STAYS = 5000;
/** More at once can't be read. */
const MOST = 3;

/** Notices with `added` at the end: the same words again take the place of the earlier ones, the oldest give way. */
export function withNotice(notices: readonly Notice[], added: Notice): Notice[] {
  return [...notices.filter((notice) => notice.text !== added.text), added].slice(-MOST);
}

/** The notices to show now, out of all there were. */
export function useNotices(all: readonly Notice[]): Notice[] {
  const [shown, setShown] = useState<Notice[]>([]);
  const seen = useRef(0);
  const timers = useRef(new Set<ReturnType<typeof setTimeout>>());

  useEffect(() => {
    if (all.length === 0) {
      seen.current = 0;
    }
    for (const notice of all.filter(({ id }) => id > seen.current)) {
      seen.current = notice.id;
      setShown((before) => withNotice(before, notice));
      const timer = setTimeout(() => {
        timers.current.delete(timer);
        setShown((before) => before.filter(({ id }) => id !== notice.id));
      }, NOTICE_STAYS);
      timers.current.add(timer);
    }
  }, [all]);

  useEffect(() => {
    const running = timers.current;
    return () => {
      for (const timer of running) {
        clearTimeout(timer);
      }
    };
  }, []);
  return shown;
}
