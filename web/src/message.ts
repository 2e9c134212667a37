// The server's JSON messages, checked before use.

import { PROTOCOL, type SceneDescription, type ServerMessage, type Task } from "./wire";

/** A message that is not what the protocol says. */
export class MessageError extends Error {
  override name = "MessageError";
}

/** Reads a text message. Throws {@link MessageError}. */
export function parseMessage(text: string): ServerMessage {
  let message: ServerMessage;
  try {
    message = JSON.parse(text) as ServerMessage;
  } catch {
    throw new MessageError("the server sent text that is not JSON");
  }
  switch (message?.type) {
    case "hello":
      if (message.protocol !== PROTOCOL) {
        throw new MessageError(
          `the server speaks protocol ${message.protocol}, this page ${PROTOCOL}: reload the page`,
        );
      }
      checkScene(message.scene);
      if (!Array.isArray(message.bounds)) {
        throw new MessageError("the server sent no list of bounds");
      }
      if (!Array.isArray(message.flags)) {
        throw new MessageError("the server sent no list of flags");
      }
      if (message.task) {
        checkTask(message.task);
      }
      return message;
    case "task":
      checkTask(message.task);
      return message;
    case "parameters":
      if (![message.parameters, message.bounds, message.flags].every(Array.isArray)) {
        throw new MessageError("the server sent no list of parameters, bounds and flags");
      }
      return message;
    case "error":
    case "event":
    case "picked":
    case "finished":
      return message;
    default:
      throw new MessageError("the server sent a message of unknown type");
  }
}

/** Marks are drawn where the message says: a place that is no number would spoil the whole picture. */
function checkTask(task: Task): void {
  if (!Array.isArray(task?.marks)) {
    throw new MessageError("the task has no list of marks");
  }
  for (const { position, normal, radius } of task.marks) {
    const numbers = [...(position ?? []), ...(normal ?? []), radius];
    if (numbers.length !== 7 || !numbers.every(Number.isFinite)) {
      throw new MessageError("the task has a mark without a place");
    }
  }
}

/** What would make the graphics card read outside its buffers, or draw nothing, is refused here. */
function checkScene(scene: SceneDescription): void {
  for (const key of ["tissues", "scenery", "bodies", "instruments", "stages"] as const) {
    if (!Array.isArray(scene?.[key])) {
      throw new MessageError(`the scene has no list of ${key}`);
    }
  }
  for (const { name, vertices, positions, triangles } of scene.tissues) {
    if (positions.length !== 3 * vertices) {
      throw new MessageError(`${name} has ${vertices} vertices but ${positions.length} coordinates`);
    }
    checkTriangles(name, positions, triangles);
  }
  for (const { name, positions, triangles } of scene.scenery) {
    checkTriangles(name, positions, triangles);
  }
}

function checkTriangles(name: string, positions: number[], triangles: number[]): void {
  const vertices = positions.length / 3;
  if (triangles.length % 3 !== 0 || !Number.isInteger(vertices)) {
    throw new MessageError(`${name} has an incomplete vertex or triangle`);
  }
  if (!positions.every(Number.isFinite)) {
    throw new MessageError(`${name} has a position that is not a finite number`);
  }
  if (!triangles.every((index) => Number.isInteger(index) && index >= 0 && index < vertices)) {
    throw new MessageError(`${name} has a triangle with an index outside its ${vertices} vertices`);
  }
}
