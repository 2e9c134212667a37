import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";
import { Link } from "wouter";
import { Icon, type IconName } from "./Icon";

interface Look {
  variant?: "primary" | "secondary" | "quiet" | "danger";
  size?: "small" | "medium" | "large";
  icon?: IconName;
  /** Only the icon is seen; the children are its label. */
  bare?: boolean;
  children: ReactNode;
}

function classOf({ variant = "secondary", size = "medium", bare = false }: Look, more = ""): string {
  return `button ${variant} ${size} ${bare ? "bare" : ""} ${more}`.replace(/\s+/g, " ").trim();
}

function inside({ icon, bare, children }: Look): ReactNode {
  return (
    <>
      {icon && <Icon name={icon} />}
      {bare ? <span className="quietly">{children}</span> : children}
    </>
  );
}

export function Button({
  variant,
  size,
  icon,
  bare,
  children,
  className,
  ...rest
}: Look & ButtonHTMLAttributes<HTMLButtonElement> & { ref?: Ref<HTMLButtonElement> }) {
  const look = { variant, size, icon, bare, children };
  const title = bare && typeof children === "string" ? children : undefined;
  return (
    <button type="button" title={title} {...rest} className={classOf(look, className)}>
      {inside(look)}
    </button>
  );
}

/** Goes to another page of the app; looks like a button. */
export function LinkButton({ href, className, ...look }: Look & { href: string; className?: string }) {
  return (
    <Link href={href} className={classOf(look, className)}>
      {inside(look)}
    </Link>
  );
}

/** Fetches a file. */
export function DownloadButton({ href, ...look }: Look & { href: string }) {
  return (
    <a href={href} download="" className={classOf({ ...look })}>
      {inside({ icon: "download", ...look })}
    </a>
  );
}
