// The frame of every page but the operating ones: way home, who operates, the heading, the line at the foot.

import { type ReactNode, useEffect, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { Button, Icon } from "../ui";
import { ProfileDialog } from "./Profiles";
import { useSession } from "./session";

/** The same words wherever a result is shown. */
export const DISCLAIMER = "A training aid: not a validated assessment, not a medical device.";

/** False until somebody has gone from one page to another: the first page takes no focus. */
let navigated = false;

/** Called by the app when the address changes. */
export function hasNavigated(): void {
  navigated = true;
}

/** The browser tab says which page this is. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === "Trocar" ? title : `${title} · Trocar`;
  }, [title]);
}

const PLACES = [
  { href: "/", label: "Home", under: ["/exercise"] },
  { href: "/results", label: "Results", under: ["/result/"] },
  { href: "/lab", label: "Lab", under: ["/lab"] },
  { href: "/watch", label: "Watch", under: [] },
  { href: "/about", label: "About", under: [] },
];

export interface PageProps {
  /** The heading, and the title of the browser tab. */
  title: string;
  /** For the browser tab, if it is to differ from the heading. */
  tab?: string;
  /** A line above the heading: where this page belongs. */
  above?: ReactNode;
  /** A sentence below the heading. */
  lead?: ReactNode;
  /** Beside the heading. */
  actions?: ReactNode;
  children: ReactNode;
}

export function Page({ title, tab, above, lead, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useTitle(tab ?? title);

  useEffect(() => {
    if (navigated) {
      // Screen readers say the new page; the keyboard goes on from its top.
      heading.current?.focus({ preventScroll: true });
      window.scrollTo(0, 0);
    }
  }, []);

  return (
    <div className="page">
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <Header />
      <main id="content" className="content" tabIndex={-1}>
        <div className="page-head">
          <div>
            {above && <p className="above">{above}</p>}
            <h1 ref={heading} tabIndex={-1}>
              {title}
            </h1>
            {lead && <p className="lead">{lead}</p>}
          </div>
          {actions && <div className="actions">{actions}</div>}
        </div>
        {children}
      </main>
      <footer className="foot">
        <p>{DISCLAIMER}</p>
      </footer>
    </div>
  );
}

function Header() {
  const [location] = useLocation();
  return (
    <header className="top">
      <Link href="/" className="brand" aria-label="Trocar, home">
        <Mark />
        Trocar
      </Link>
      <nav aria-label="Pages">
        <ul className="places">
          {PLACES.map(({ href, label, under }) => {
            const here = location === href || under.some((start) => location.startsWith(start));
            return (
              <li key={href}>
                <Link href={href} aria-current={here ? "page" : undefined}>
                  {label}
                </Link>
              </li>
            );
          })}
          <li>
            {/* Plain HTML beside the app, so not the router's. */}
            <a href="/book/index.html">Book</a>
          </li>
        </ul>
      </nav>
      <Who />
    </header>
  );
}

function Who() {
  const { profile, profiles } = useSession();
  const [open, setOpen] = useState(false);
  if (profiles.state !== "ready" || profiles.value.length === 0) {
    return <span className="who" />;
  }
  return (
    <span className="who">
      <Button variant="quiet" icon="person" onClick={() => setOpen(true)} aria-haspopup="dialog">
        <span className="quietly">Who operates: </span>
        <span className="who-name">{profile?.name ?? "Who operates?"}</span>
      </Button>
      <ProfileDialog open={open} onClose={() => setOpen(false)} />
    </span>
  );
}

/** An instrument through a round opening. */
function Mark() {
  return (
    <svg className="brand-mark" viewBox="0 0 32 32" aria-hidden="true">
      <circle cx="16" cy="16" r="10.5" fill="none" stroke="currentColor" strokeWidth="2.5" />
      <path
        d="M4 28 16 16m0 0 6.5-1.5M16 16l1.5-6.5"
        fill="none"
        stroke="currentColor"
        strokeWidth="2.5"
        strokeLinecap="round"
      />
    </svg>
  );
}

/** For cards that lead somewhere. */
export function More({ children }: { children: ReactNode }) {
  return (
    <span className="more">
      {children}
      <Icon name="arrow" />
    </span>
  );
}
