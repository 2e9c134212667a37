// Attribute bits of nets (Kuhn, App. A.1), changed while the scene runs.

import { useId, useState } from "react";
import type { FlagWord } from "../../wire";
import { asHex, readWord, tokensOf } from "./flags";

/** The words of all nets, and one for all of them. `onChange` asks; what holds comes back in `flags`, or a notice says why not. */
export function Flags({
  flags,
  disabled,
  onChange,
}: {
  flags: readonly FlagWord[];
  disabled: boolean;
  onChange(tissue: number | null, word: number): void;
}) {
  if (flags.length === 0) {
    return <p className="small soft">This scene has no nodal nets.</p>;
  }
  return (
    <div className="parameters">
      {flags.map(({ tissue, word }, i) => (
        <Word
          key={tissue}
          name={tissue}
          word={word}
          disabled={disabled}
          onChange={(wanted) => onChange(i, wanted)}
        />
      ))}
      {flags.length > 1 && (
        <Word
          name="all of them"
          word={null}
          disabled={disabled}
          onChange={(wanted) => onChange(null, wanted)}
        />
      )}
    </div>
  );
}

function Word({
  name,
  word,
  disabled,
  onChange,
}: {
  name: string;
  /** Its bits now; null if there are several. */
  word: number | null;
  disabled: boolean;
  onChange(word: number): void;
}) {
  const id = useId();
  const [typed, setTyped] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const commit = () => {
    if (typed === null || typed.trim() === "") {
      setTyped(null);
      return;
    }
    setTyped(null);
    const wanted = readWord(typed);
    setProblem(wanted === null ? "Please give a word such as 0x2050." : null);
    if (wanted !== null && wanted !== word) {
      onChange(wanted);
    }
  };
  return (
    <div className="knob">
      <label htmlFor={id}>{name}</label>
      <span className="entry">
        <input
          id={id}
          type="text"
          className="input"
          aria-describedby={`${id}-bits`}
          aria-invalid={problem ? true : undefined}
          disabled={disabled}
          value={typed ?? (word === null ? "" : asHex(word))}
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
      </span>
      <p id={`${id}-bits`} className="small soft">
        {word === null ? "One word for every net." : tokensOf(word)}
      </p>
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
