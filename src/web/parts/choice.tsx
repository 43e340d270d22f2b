import { route, setQuery } from "../state/route.ts";

/** A filter of few words, in the address. */
export function Choice({ name, label, choices, any = "any" }: { name: string; label: string; choices: readonly string[]; any?: string }) {
  return (
    <label class="row">
      <span class="soft">{label}</span>
      <select value={route.value.query[name] ?? ""} onChange={(event) => setQuery({ [name]: event.currentTarget.value || undefined })}>
        <option value="">{any}</option>
        {choices.map((choice) => (
          <option value={choice} key={choice}>
            {choice}
          </option>
        ))}
      </select>
    </label>
  );
}
