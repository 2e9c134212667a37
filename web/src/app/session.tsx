// Who operates: the profile chosen in this browser, known to every page.

import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from "react";
import { api } from "../api";
import type { Profile } from "../wire";
import { type Loading, useLoad } from "./load";
import { recall, remember } from "./memory";

export interface Session {
  profiles: Loading<Profile[]> & { reload(): void };
  /** The chosen one, once the profiles are there and it is among them. */
  profile: Profile | null;
  choose(profile: number | null): void;
}

const Context = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(Context);
  if (session === null) {
    throw new Error("there is no session around this component");
  }
  return session;
}

export function SessionOf({ children }: { children: ReactNode }) {
  const profiles = useLoad((signal) => api.profiles(signal), []);
  const [chosen, setChosen] = useState(() => Number(recall("profile") ?? Number.NaN));
  const choose = useCallback((profile: number | null) => {
    setChosen(profile ?? Number.NaN);
    remember("profile", profile === null ? null : String(profile));
  }, []);
  const session = useMemo<Session>(() => {
    const known = profiles.state === "ready" ? profiles.value : [];
    return { profiles, profile: known.find((profile) => profile.id === chosen) ?? null, choose };
  }, [profiles, chosen, choose]);
  return <Context.Provider value={session}>{children}</Context.Provider>;
}
