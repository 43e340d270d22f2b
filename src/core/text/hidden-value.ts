/** Mask in place of a secret value; sent back by a client it means: unchanged. */
export const HIDDEN = "***";
