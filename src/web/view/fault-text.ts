/** What a form says of a failure: with the field's name where the message does not begin with it. */
export function faultText(error: unknown): string {
  const { message, field = null } = error as { readonly message: string; readonly field?: string | null };
  return field === null || message.startsWith(field) ? message : `${field}: ${message}`;
}
