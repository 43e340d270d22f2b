// The environment that rows are of. In the address it is absent where rows of all are shown, and empty where those are that name none.
import { route, setQuery } from "../state/route.ts";
import { Name } from "./basics.tsx";
import { SearchField } from "./search-field.tsx";

/** A filter by environment, which says also where only what names none is shown. */
export function EnvironmentField() {
  return (
    <>
      <SearchField label="Environment" name="environment" />
      {route.value.query.environment === "" && (
        <button type="button" class="button" onClick={() => setQuery({ environment: undefined })}>
          no environment ×
        </button>
      )}
    </>
  );
}

/** Behind a name: in which environment it is; nothing where it names none. */
export function InEnvironment({ of }: { of: string | undefined }) {
  return of === undefined || of === "" ? null : (
    <span class="faint">
      {" "}
      in <Name text={of} />
    </span>
  );
}
