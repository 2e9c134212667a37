// The numbers of the moment as text, to paste into a notebook or a report.

import type { Status } from "../../theatre";
import type { Parameter } from "../../wire";

/** All parameters and readings, one a line, aligned enough to read. */
export function valuesAsText(scene: string, status: Status | null, parameters: readonly Parameter[]): string {
  const lines = [scene];
  if (status) {
    lines.push(
      `time ${status.time.toFixed(3)} s, rate ${status.rate.toFixed(2)} × real time`,
      "",
      `step ${status.stepCost.toFixed(1)} µs of ${status.stepBudget.toFixed(0)} µs`,
      ...status.stages.map(({ name, cost }) => `  ${name} ${cost.toFixed(1)} µs`),
      `aim error ${status.aimError} m after ${status.aimIterations} iterations`,
      `correct error ${status.correctError} m/s`,
      `contacts ${status.contacts}, substeps ${status.substeps}`,
      `energy kinetic ${status.energy.kinetic} J, gravity ${status.energy.gravity} J, elastic ${status.energy.elastic} J`,
    );
  }
  if (parameters.length > 0) {
    lines.push(
      "",
      ...parameters.map(({ group, name, value, start, unit }) => {
        const changed = value === start ? "" : `   (at the start ${start})`;
        return `${group} / ${name} = ${value} ${unit}`.trimEnd() + changed;
      }),
    );
  }
  return `${lines.join("\n")}\n`;
}

/** To the clipboard; false if the browser won't. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // not a secure page, or not allowed
  }
}
