// The questions an operation asks.

import { useLocation } from "wouter";
import { Button, Dialog, Notice, ScoreRing } from "../../ui";
import type { Finished } from "./useTheatre";

interface Ask {
  open: boolean;
  onClose(): void;
  onConfirm(): void;
}

/** The operation stands still. */
export function PauseDialog({
  open,
  onClose,
  onOpen,
  exercise,
}: {
  open: boolean;
  onClose(): void;
  onOpen(sheet: "help" | "settings" | "restart" | "finish" | "leave"): void;
  exercise: boolean;
}) {
  return (
    <Dialog open={open} onClose={onClose} title="Paused">
      <p className="soft">The operation and its clock stand still.</p>
      <div className="menu">
        <Button variant="primary" icon="play" onClick={onClose} autoFocus>
          Go on
        </Button>
        <Button icon="help" onClick={() => onOpen("help")}>
          How to operate
        </Button>
        <Button icon="gear" onClick={() => onOpen("settings")}>
          Settings
        </Button>
        <Button icon="repeat" onClick={() => onOpen("restart")}>
          Start again
        </Button>
        {exercise && (
          <Button icon="flag" onClick={() => onOpen("finish")}>
            Finish and score
          </Button>
        )}
        <Button variant="quiet" icon="back" onClick={() => onOpen("leave")}>
          Leave
        </Button>
      </div>
    </Dialog>
  );
}

/** Back to the start? */
export function RestartDialog({ open, onClose, onConfirm, exercise }: Ask & { exercise: boolean }) {
  return (
    <Question
      open={open}
      title="Start again?"
      keep="Go on"
      action="Start again"
      onClose={onClose}
      onConfirm={onConfirm}
    >
      {exercise
        ? "Everything goes back to the beginning. This run is kept among your results as given up."
        : "Everything goes back to the beginning."}
    </Question>
  );
}

/** Score it as it is? */
export function FinishDialog({ open, onClose, onConfirm }: Ask) {
  return (
    <Question
      open={open}
      title="Finish now?"
      keep="Go on"
      action="Finish and score"
      onClose={onClose}
      onConfirm={onConfirm}
    >
      The operation ends here and is scored as it is. Goals that are not reached give no points.
    </Question>
  );
}

/** Away from here? */
export function LeaveDialog({ open, onClose, onConfirm, exercise }: Ask & { exercise: boolean }) {
  return (
    <Question open={open} title="Leave?" keep="Stay" action="Leave" onClose={onClose} onConfirm={onConfirm}>
      {exercise
        ? "The operation is not finished. It is kept among your results as broken off."
        : "The operation ends when nobody watches it any more."}
    </Question>
  );
}

function Question({
  open,
  title,
  keep,
  action,
  children,
  onClose,
  onConfirm,
}: Ask & { title: string; keep: string; action: string; children: string }) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={title}
      actions={
        <>
          <Button onClick={onClose}>{keep}</Button>
          <Button variant="primary" onClick={onConfirm} autoFocus>
            {action}
          </Button>
        </>
      }
    >
      <p>{children}</p>
    </Dialog>
  );
}

/** It is over: the score in short, and the way to the debrief. */
export function FinishedDialog({
  finished,
  passMark,
  controls,
  onAgain,
  onLeave,
}: {
  finished: Finished | null;
  passMark: number | null;
  controls: boolean;
  onAgain(): void;
  onLeave(): void;
}) {
  const [, navigate] = useLocation();
  const result = finished?.result ?? null;
  return (
    <Dialog
      open={finished !== null}
      onClose={onLeave}
      title={finished?.passed ? "Well done: passed" : "The operation is over"}
      actions={
        <>
          <Button variant="quiet" onClick={onLeave}>
            Back
          </Button>
          {controls && (
            <Button icon="repeat" onClick={onAgain} autoFocus={result === null}>
              Once more
            </Button>
          )}
          {result !== null && (
            <Button variant="primary" icon="arrow" onClick={() => navigate(`/result/${result}`)} autoFocus>
              See the debrief
            </Button>
          )}
        </>
      }
    >
      {finished && (
        <div className="finished">
          <ScoreRing score={finished.score} passed={finished.passed} passMark={passMark} />
          <p>
            <strong>{Math.round(finished.score)} of 100 points.</strong>{" "}
            {finished.passed
              ? "The debrief shows what went well and what can still be calmer."
              : passMark !== null && finished.score < passMark
                ? `${Math.round(passMark)} are needed to pass. The debrief says what to do better.`
                : "Not every goal was reached. The debrief says what to do better."}
          </p>
        </div>
      )}
      {finished?.problem && <Notice tone="bad">The result could not be kept: {finished.problem}</Notice>}
    </Dialog>
  );
}
