import { type InputHTMLAttributes, type ReactNode, type Ref, useId } from "react";

/** One line of text. */
export function TextField({
  label,
  hint,
  error,
  ...input
}: {
  label: string;
  hint?: string;
  error?: string | null;
  ref?: Ref<HTMLInputElement>;
} & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  const about = `${id}-about`;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="input"
        aria-invalid={error ? true : undefined}
        aria-describedby={hint || error ? about : undefined}
        {...input}
      />
      {(hint || error) && (
        <span id={about} className={error ? "error" : "hint"} role={error ? "alert" : undefined}>
          {error || hint}
        </span>
      )}
    </div>
  );
}

export interface Option<T extends string> {
  value: T;
  label: string;
  disabled?: boolean;
}

/** A choice from a list that folds out. */
export function Select<T extends string>({
  label,
  options,
  value,
  onChange,
}: {
  label: string;
  options: Option<T>[];
  value: T;
  onChange(value: NoInfer<T>): void;
}) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        className="select"
        value={value}
        onChange={(event) => onChange(event.target.value as T)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value} disabled={option.disabled}>
            {option.label}
          </option>
        ))}
      </select>
    </div>
  );
}

/** A choice of a few, all seen at once. */
export function Segmented<T extends string>({
  label,
  options,
  value,
  onChange,
  labelHidden = false,
}: {
  label: string;
  options: Option<T>[];
  value: T;
  onChange(value: NoInfer<T>): void;
  labelHidden?: boolean;
}) {
  const name = useId();
  return (
    <fieldset className="segmented">
      <legend className={labelHidden ? "quietly" : "label"}>{label}</legend>
      <div className="options">
        {options.map((option) => (
          <label key={option.value}>
            <input
              type="radio"
              name={name}
              value={option.value}
              checked={option.value === value}
              disabled={option.disabled}
              onChange={() => onChange(option.value)}
            />
            {option.label}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** On or off. */
export function Switch({
  label,
  hint,
  checked,
  onChange,
  disabled = false,
}: {
  label: string;
  hint?: ReactNode;
  checked: boolean;
  onChange(checked: boolean): void;
  disabled?: boolean;
}) {
  const id = useId();
  return (
    <label className="switch" htmlFor={id}>
      <input
        id={id}
        type="checkbox"
        role="switch"
        checked={checked}
        aria-checked={checked}
        disabled={disabled}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span>{label}</span>
      {hint && (
        <span id={`${id}-hint`} className="hint">
          {hint}
        </span>
      )}
    </label>
  );
}

/** A number between two ends. */
export function Slider({
  label,
  value,
  least,
  greatest,
  step = "any",
  words = String,
  onChange,
  disabled = false,
}: {
  label: string;
  value: number;
  least: number;
  greatest: number;
  step?: number | "any";
  /** The value as it is read, with its unit. */
  words?(value: number): string;
  onChange(value: number): void;
  disabled?: boolean;
}) {
  const id = useId();
  return (
    <div className="slider">
      <div className="row">
        <label htmlFor={id}>{label}</label>
        <output htmlFor={id}>{words(value)}</output>
      </div>
      <input
        id={id}
        type="range"
        min={least}
        max={greatest}
        step={step}
        value={value}
        disabled={disabled}
        aria-valuetext={words(value)}
        onChange={(event) => onChange(event.target.valueAsNumber)}
      />
    </div>
  );
}
