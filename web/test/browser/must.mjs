/** Throws `sentence` unless `truth`. */
export function must(truth, sentence) {
  if (!truth) {
    throw new Error(sentence);
  }
}
