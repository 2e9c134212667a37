// The constants of the scene, changed while it runs (K13).

import { useEffect, useId, useMemo, useRef, useState } from "react";
import { Button } from "../../ui";
import type { Parameter } from "../../wire";
import type { Notice } from "../operate/useTheatre";
import { figure } from "../operate/words";
import { scaleOf, tidy } from "./scale";
import { isSame, reasonFor } from "./wishes";

/** No more changes than this while a slider is dragged, ms. */
const SEND_EVERY = 80;
/** A wish that has not come true after this long was refused, ms. */
const PATIENCE = 1500;
/** Places of a slider: fine enough for the hand, coarse enough for the keys. */
const PLACES = 200;

/** Every parameter by group. `onChange` asks; what holds comes back in `parameters`. */
export function Parameters({
  parameters,
  notices,
  disabled,
  paused,
  onChange,
}: {
  parameters: readonly Parameter[];
  notices: readonly Notice[];
  disabled: boolean;
  /** Changes take effect with the next step, which is not made now. */
  paused: boolean;
  onChange(index: number, value: number): void;
}) {
  const groups = useMemo(() => {
    const found = new Map<string, number[]>();
    parameters.forEach(({ group }, i) => {
      found.set(group, [...(found.get(group) ?? []), i]);
    });
    return [...found];
  }, [parameters]);
  const changed = parameters.flatMap(({ value, start }, i) => (isSame(value, start) ? [] : [i]));

  if (parameters.length === 0) {
    return <p className="small soft">This scene has none that can be changed.</p>;
  }
  return (
    <div className="parameters">
      <Button
        size="small"
        icon="repeat"
        disabled={disabled || changed.length === 0}
        onClick={() => {
          for (const i of changed) {
            onChange(i, parameters[i].start);
          }
        }}
      >
        Reset all{changed.length > 0 ? ` (${changed.length})` : ""}
      </Button>
      {groups.map(([group, members], i) => (
        <details key={group} open={i < 2}>
          <summary>{group}</summary>
          {members.map((index) => (
            <OneOf
              key={parameters[index].name}
              parameter={parameters[index]}
              notices={notices}
              disabled={disabled}
              paused={paused}
              onChange={(value) => onChange(index, value)}
            />
          ))}
        </details>
      ))}
    </div>
  );
}

interface OfOne {
  parameter: Parameter;
  notices: readonly Notice[];
  disabled: boolean;
  paused: boolean;
  onChange(value: number): void;
}

/** One of a few things is chosen from a list, a number is turned. */
function OneOf(props: OfOne) {
  return props.parameter.choices.length > 0 ? <Choice {...props} /> : <Knob {...props} />;
}

function Choice({ parameter, notices, disabled, paused, onChange }: OfOne) {
  const { name, about, value, choices } = parameter;
  const id = useId();
  const { wish, problem, ask } = useWish(parameter, notices, paused, onChange);
  return (
    <div className="knob">
      <label htmlFor={`${id}-choice`} title={about}>
        {name}
      </label>
      <select
        id={`${id}-choice`}
        className="input"
        disabled={disabled}
        value={wish ?? value}
        aria-describedby={`${id}-about`}
        onChange={(event) => ask(Number(event.target.value))}
        // Letters typed here are no keys of the instrument.
        onKeyDown={(event) => event.stopPropagation()}
      >
        {choices.map((choice, i) => (
          <option key={choice} value={i}>
            {choice}
          </option>
        ))}
      </select>
      <span id={`${id}-about`} className="quietly">
        {about}
      </span>
      {wish !== null && paused && <p className="waits">Takes effect when time goes on.</p>}
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

/** Asks for a value and waits for it: a wish ends when it has come true, or when it has not in time. */
function useWish(
  { name, value, choices }: Parameter,
  notices: readonly Notice[],
  paused: boolean,
  onChange: (value: number) => void,
) {
  const [wish, setWish] = useState<number | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const heard = useRef(notices.length > 0 ? notices[notices.length - 1].id : 0);
  const newest = useRef(notices);
  newest.current = notices;
  const send = useThrottled(onChange, SEND_EVERY);
  const ask = (wanted: number) => {
    heard.current = newest.current.at(-1)?.id ?? 0;
    setProblem(null);
    setWish(wanted);
    send(wanted);
  };
  useEffect(() => {
    if (wish === null) {
      return;
    }
    if (isSame(value, wish)) {
      setWish(null);
      return;
    }
    if (paused) {
      return;
    }
    const timer = setTimeout(() => {
      setWish(null);
      setProblem(
        reasonFor(name, newest.current, heard.current) ??
          `Not accepted: it stays at ${choices[value] ?? figure(value)}.`,
      );
    }, PATIENCE);
    return () => clearTimeout(timer);
  }, [wish, value, name, choices, paused]);
  return { wish, problem, setProblem, ask };
}

function Knob({ parameter, notices, disabled, paused, onChange }: OfOne) {
  const { name, unit, about, least, greatest, value, start } = parameter;
  const id = useId();
  const scale = useMemo(() => scaleOf(least, greatest, start), [least, greatest, start]);
  const [typed, setTyped] = useState<string | null>(null);
  const { wish, problem, setProblem, ask } = useWish(parameter, notices, paused, onChange);

  const commit = () => {
    if (typed === null) {
      return;
    }
    setTyped(null);
    const wanted = Number(typed.replace(",", "."));
    if (typed.trim() === "" || !Number.isFinite(wanted) || wanted < least || wanted > greatest) {
      setProblem(`Please give a number from ${figure(least)} to ${figure(greatest)}.`);
    } else {
      ask(wanted);
    }
  };

  const shown = wish ?? value;
  return (
    <div className="knob">
      <label htmlFor={`${id}-place`} title={about}>
        {name.replaceAll("_", " ")}
      </label>
      <span className="entry">
        <input
          type="text"
          inputMode="decimal"
          className="input"
          aria-label={`${name.replaceAll("_", " ")}${unit ? `, ${unit}` : ""}`}
          aria-describedby={`${id}-about`}
          aria-invalid={problem ? true : undefined}
          disabled={disabled}
          value={typed ?? figure(shown)}
          onFocus={(event) => event.target.select()}
          onChange={(event) => setTyped(event.target.value)}
          onBlur={commit}
          onKeyDown={(event) => {
            if (event.key === "Enter") {
              commit();
            } else if (event.key === "Escape") {
              setTyped(null);
            }
            // Letters typed here are no keys of the instrument.
            event.stopPropagation();
          }}
        />
        <span className="unit">{unit}</span>
      </span>
      <div className="turn">
        <input
          id={`${id}-place`}
          type="range"
          min={0}
          max={PLACES}
          step={1}
          disabled={disabled}
          value={Math.round(PLACES * scale.place(shown))}
          aria-valuetext={`${figure(shown)} ${unit}`}
          aria-describedby={`${id}-about`}
          onChange={(event) => ask(tidy(scale.value(event.target.valueAsNumber / PLACES)))}
        />
        <Button
          size="small"
          variant="quiet"
          bare
          icon="repeat"
          disabled={disabled || isSame(shown, start)}
          title={`Back to ${figure(start)}`}
          onClick={() => ask(start)}
        >
          Reset {name.replaceAll("_", " ")} to {figure(start)}
        </Button>
      </div>
      <span id={`${id}-about`} className="quietly">
        {about}
      </span>
      {wish !== null && paused && <p className="waits">Takes effect when time goes on.</p>}
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

/** Calls at most every `interval` ms; the last value always arrives. */
function useThrottled(call: (value: number) => void, interval: number): (value: number) => void {
  const latest = useRef(call);
  latest.current = call;
  const state = useRef<{ timer: ReturnType<typeof setTimeout> | null; last: number; value: number }>({
    timer: null,
    last: Number.NEGATIVE_INFINITY,
    value: 0,
  });
  useEffect(() => {
    const now = state.current;
    return () => {
      if (now.timer !== null) {
        clearTimeout(now.timer);
      }
    };
  }, []);
  return (value) => {
    const now = state.current;
    now.value = value;
    if (now.timer !== null) {
      return;
    }
    now.timer = setTimeout(
      () => {
        now.timer = null;
        now.last = performance.now();
        latest.current(now.value);
      },
      Math.max(0, now.last + interval - performance.now()),
    );
  };
}
