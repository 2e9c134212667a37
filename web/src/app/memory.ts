// What this browser remembers between visits. A browser that refuses to remember (private windows) does no harm.

export function recall(name: string): string | null {
  try {
    return localStorage.getItem(`trocar.${name}`);
  } catch {
    return null;
  }
}

export function remember(name: string, value: string | null): void {
  try {
    if (value === null) {
      localStorage.removeItem(`trocar.${name}`);
    } else {
      localStorage.setItem(`trocar.${name}`, value);
    }
  } catch {
    // Nothing depends on it.
  }
}
