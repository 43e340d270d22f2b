/** With so many cores or fewer the threads of the process take one another's turns, and it matters who goes first. */
export const CORES_FEW = 2;
