import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Button } from "./Button";

export interface DialogProps {
  open: boolean;
  /** Also for Escape and for a click beside the dialog. */
  onClose(): void;
  title: string;
  children: ReactNode;
  /** Buttons at the lower edge. */
  actions?: ReactNode;
  wide?: boolean;
}

/** The browser's own modal dialog: it keeps the focus inside, and gives it back. */
export function Dialog({ open, onClose, title, children, actions, wide = false }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // What is inside comes once the dialog is shown: in a hidden one nothing could take the focus by `autoFocus`.
  const [shown, setShown] = useState(false);

  useEffect(() => {
    const element = dialog.current;
    if (open && element && !element.open) {
      element.showModal();
    } else if (!open && element?.open) {
      element.close();
    }
    setShown(open);
  }, [open]);

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape is the dialog's own; the click is only for the ground beside it
    <dialog
      ref={dialog}
      className={wide ? "dialog wide" : "dialog"}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      {open && shown && (
        <div className="inner">
          <div className="dialog-head">
            <h2 id={heading}>{title}</h2>
            <Button variant="quiet" size="small" bare icon="close" onClick={onClose}>
              Close
            </Button>
          </div>
          {children}
          {actions && <div className="dialog-foot">{actions}</div>}
        </div>
      )}
    </dialog>
  );
}

export interface ConfirmProps {
  open: boolean;
  title: string;
  /** What will happen, in full. */
  children: ReactNode;
  /** The deed, as on the button. */
  action: string;
  busy?: boolean;
  onConfirm(): void;
  onClose(): void;
}

/** Asks before something that can't be undone. */
export function Confirm({ open, title, children, action, busy = false, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={title}
      actions={
        <>
          <Button variant="secondary" onClick={onClose} autoFocus>
            Keep
          </Button>
          <Button variant="danger" icon="trash" onClick={onConfirm} disabled={busy}>
            {action}
          </Button>
        </>
      }
    >
      {children}
    </Dialog>
  );
}
