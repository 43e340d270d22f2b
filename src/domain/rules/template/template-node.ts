// The tree of a template (text/template/parse/node.go). `start` is an offset in the template's text, `text` what the node says there.

interface NodeBase {
  readonly start: number;
  readonly text: string;
}

/** Something that a command is made of. */
export type Operand = NodeBase &
  (
    | { readonly kind: "dot" | "nil" }
    | { readonly kind: "constant"; readonly value: string | number | bigint | boolean }
    /** Fields of the dot, .a.b */
    | { readonly kind: "field"; readonly fields: readonly string[] }
    /** A variable and fields of it, $name.a.b */
    | { readonly kind: "variable"; readonly variable: string; readonly fields: readonly string[] }
    | { readonly kind: "function"; readonly function: string }
    | { readonly kind: "pipeline"; readonly pipeline: Pipeline }
    /** Fields of a value in parentheses. */
    | { readonly kind: "chain"; readonly operand: Operand; readonly fields: readonly string[] }
  );

/** A function with its arguments, or one operand alone. */
export interface Command extends NodeBase {
  readonly operands: readonly [Operand, ...Operand[]];
}

/** Commands one behind the other, and variables that the last value goes to. */
export interface Pipeline extends NodeBase {
  readonly variables: readonly string[];
  readonly isAssignment: boolean;
  readonly commands: readonly Command[];
}

/** A piece of a template. */
export type TemplateNode = NodeBase &
  (
    | { readonly kind: "text" | "break" | "continue" }
    | { readonly kind: "action"; readonly pipeline: Pipeline }
    | {
        readonly kind: "if" | "with" | "range";
        readonly pipeline: Pipeline;
        readonly body: readonly TemplateNode[];
        readonly otherwise: readonly TemplateNode[];
      }
    | { readonly kind: "template"; readonly template: string; readonly pipeline: Pipeline | undefined }
  );

/** A template that was read, with those that it defines. */
export interface ParsedTemplate {
  readonly name: string;
  readonly source: string;
  readonly nodes: readonly TemplateNode[];
  readonly definitions: ReadonlyMap<string, readonly TemplateNode[]>;
}
