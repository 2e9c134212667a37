// Before the start: what to do and how to hold the instrument.

import { useSettings } from "../../settings";
import { Button, Dialog } from "../../ui";
import type { ExerciseInfo, LevelInfo, OperationInfo, Task } from "../../wire";
import { FulcrumDrawing } from "./FulcrumDrawing";
import { minutes } from "./words";
import "./dialogs.css";

/** In short; the help has them all. */
const CONTROLS: readonly [string, string][] = [
  ["Mouse", "swing the tip"],
  ["Wheel", "push in, pull out"],
  ["Left button", "close the jaws"],
  ["?", "all controls"],
];
const LEFT_CONTROLS: readonly [string, string][] = CONTROLS.map(([input, action]) => [
  input === "Left button" ? "Right button" : input,
  action,
]);

/** The level of an operation, which may be named by its id or by its title. */
export function levelOf(exercise: ExerciseInfo | null, operation: OperationInfo | null): LevelInfo | null {
  const name = operation?.level;
  return exercise?.levels.find(({ id, title }) => id === name || title === name) ?? null;
}

/** Asks for nothing but Start. */
export function Briefing({
  open,
  operation,
  exercise,
  task,
  onStart,
  onHelp,
  onLeave,
}: {
  open: boolean;
  operation: OperationInfo;
  exercise: ExerciseInfo | null;
  task: Task | null;
  onStart(): void;
  onHelp(): void;
  onLeave(): void;
}) {
  const [{ fulcrum, leftHanded }] = useSettings();
  const level = levelOf(exercise, operation);
  const limit = level?.time_limit ?? task?.time_left ?? null;
  return (
    <Dialog
      open={open}
      onClose={onLeave}
      title={level ? `${operation.title} · ${level.title}` : operation.title}
      wide
      actions={
        <>
          <Button variant="quiet" onClick={onLeave}>
            Not now
          </Button>
          <Button variant="secondary" icon="help" onClick={onHelp}>
            All controls
          </Button>
          <Button variant="primary" icon="play" onClick={onStart} autoFocus>
            Start
          </Button>
        </>
      }
    >
      <div className="briefing">
        <section aria-label="What to do">
          {exercise && exercise.instructions.length > 0 ? (
            <ol>
              {exercise.instructions.map((instruction) => (
                <li key={instruction}>{instruction}</li>
              ))}
            </ol>
          ) : (
            <p>{task?.instruction}</p>
          )}
          <p className="soft small">
            {limit === null ? "There is no time limit." : `You have ${minutes(limit)}.`} The clock begins with
            Start.
          </p>
        </section>
        <dl className="keys" aria-label="Controls in short">
          {(leftHanded ? LEFT_CONTROLS : CONTROLS).map(([input, action]) => (
            <div key={input}>
              <dt>
                <kbd>{input}</kbd>
              </dt>
              <dd>{action}</dd>
            </div>
          ))}
        </dl>
      </div>
      <FulcrumDrawing inverted={fulcrum} />
    </Dialog>
  );
}
