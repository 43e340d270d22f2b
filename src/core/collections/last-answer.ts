/** A function of one text that remembers its last answer: for what most calls ask alike. Another text costs a comparison more than without. */
export function rememberLast<Answer>(call: (text: string) => Answer): (text: string) => Answer {
  let last: { readonly text: string; readonly answer: Answer } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, answer: call(text) };
    return last.answer;
  };
}
