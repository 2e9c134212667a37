import { createContext, type ReactNode, useCallback, useContext, useMemo, useRef, useState } from "react";
import { Button } from "./Button";

/** How long a message stays, ms. Errors stay until they are closed. */
const STAYS = 5000;

interface Toast {
  id: number;
  text: string;
  bad: boolean;
}

export interface Tell {
  (text: string): void;
  /** Something went wrong: stays until closed. */
  error(problem: unknown): void;
}

const silent: Tell = Object.assign(() => {}, { error: () => {} });
const Context = createContext<Tell>(silent);

/** Says a short sentence at the lower edge of the page. */
export function useToast(): Tell {
  return useContext(Context);
}

export function Toasts({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<Toast[]>([]);
  const last = useRef(0);
  const close = useCallback((id: number) => setToasts((all) => all.filter((toast) => toast.id !== id)), []);
  const tell = useMemo<Tell>(() => {
    const say = (text: string, bad: boolean) => {
      last.current += 1;
      const id = last.current;
      setToasts((all) => [...all.filter((toast) => toast.text !== text), { id, text, bad }].slice(-3));
      if (!bad) {
        setTimeout(() => close(id), STAYS);
      }
    };
    return Object.assign((text: string) => say(text, false), {
      error: (problem: unknown) => say(problem instanceof Error ? problem.message : String(problem), true),
    });
  }, [close]);

  return (
    <Context.Provider value={tell}>
      {children}
      <div className="toasts" role="status">
        {toasts.map((toast) => (
          <div key={toast.id} className={toast.bad ? "toast bad" : "toast"}>
            <span>{toast.text}</span>
            <Button variant="quiet" size="small" bare icon="close" onClick={() => close(toast.id)}>
              Close
            </Button>
          </div>
        ))}
      </div>
    </Context.Provider>
  );
}
