/** Reason that holds an alert back, by the name that people know it by. */
export interface Hold {
  readonly id: string;
  readonly comment: string;
}
