// The Lab: any scene of the engine, from inside.

import { LabList } from "./LabList";
import { Workbench } from "./Workbench";

/** Without an operation: what there is to run. */
export default function Lab({ operation }: { operation: string | null }) {
  return operation === null ? <LabList /> : <Workbench operation={operation} />;
}
