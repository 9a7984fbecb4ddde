/** What the page reads of the API's description, an OpenAPI document of this gateway. References are followed here. */

export interface Schema {
  type?: string | readonly string[];
  description?: string;
  format?: string;
  enum?: readonly unknown[];
  const?: unknown;
  default?: unknown;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  items?: Schema;
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  $ref?: string;
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  description: string;
  schema: Schema;
  example?: unknown;
}

export interface Media {
  schema?: Schema;
  example?: unknown;
  examples?: Readonly<Record<string, { value: unknown }>>;
}

export interface Response {
  description: string;
  content?: Readonly<Record<string, Media>>;
}

interface Written {
  operationId: string;
  summary: string;
  description: string;
  tags: readonly string[];
  parameters?: readonly Reference<Parameter>[];
  requestBody?: { required?: boolean; content: Readonly<Record<string, Media>> };
  responses: Readonly<Record<string, Reference<Response>>>;
  deprecated?: boolean;
  "x-required-scope"?: string;
}

type Reference<T> = T | { $ref: string };
type Method = (typeof METHODS)[number];
type Item = { parameters?: readonly Reference<Parameter>[] } & Readonly<Partial<Record<Method, Written>>>;

export interface Description {
  info: { description: string; version: string };
  tags: readonly { name: string; description: string }[];
  paths: Readonly<Record<string, Item>>;
  components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface Operation {
  id: string;
  method: string; // GET
  path: string; // /api/v1.0/interests/{interest_id}
  summary: string;
  description: string;
  tag: string;
  scope: string | undefined;
  deprecated: boolean;
  parameters: readonly Parameter[];
  body: Media | undefined;
  responses: readonly (readonly [string, Response])[]; // by status
}

const METHODS = ["get", "post", "put", "patch", "delete"] as const;
const JSON_TYPE = "application/json";

/** What `#/components/schemas/Id` leads to, or the thing itself. */
export function follow<T extends object>(description: Description, thing: T | { $ref: string }): T {
  if (!("$ref" in thing) || typeof thing.$ref !== "string") return thing as T;
  const [, , kind = "", name = ""] = thing.$ref.split("/");
  const found = description.components[kind]?.[name];
  if (typeof found !== "object" || found === null) throw new Error(`the description lacks ${thing.$ref}`);
  return found as T;
}

function operationOf(description: Description, path: string, item: Item, method: Method): Operation[] {
  const written = item[method];
  if (!written) return [];
  const parameters = [...(item.parameters ?? []), ...(written.parameters ?? [])].map((each) => follow(description, each));
  return [
    {
      id: written.operationId,
      method: method.toUpperCase(),
      path,
      summary: written.summary,
      description: written.description,
      tag: written.tags[0] ?? "",
      scope: written["x-required-scope"],
      deprecated: written.deprecated ?? false,
      parameters,
      body: written.requestBody?.content[JSON_TYPE],
      responses: Object.entries(written.responses).map(([status, each]) => [status, follow(description, each)] as const),
    },
  ];
}

export function operationsOf(description: Description): Operation[] {
  return Object.entries(description.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => operationOf(description, path, item, method)),
  );
}

/** The example of a body or an answer. */
export function exampleOf(media: Media | undefined): unknown {
  return media?.example ?? Object.values(media?.examples ?? {})[0]?.value;
}

/** The kind of a value, in words: `string, uuid`, `integer or null`, `list of string`. */
export function kindOf(description: Description, written: Schema): string {
  const schema = follow(description, written);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map((each) => kindOf(description, each)).join(" or ");
  if (schema.enum) return schema.enum.map(String).join(", ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const types = [schema.type ?? "any"].flat();
  const words = types.map((type) => (type === "array" && schema.items ? `list of ${kindOf(description, schema.items)}` : type));
  return words.join(" or ") + (schema.format ? `, ${schema.format}` : "");
}

export interface Member {
  name: string; // with the names of the objects around it: `schedule.hour`
  kind: string;
  description: string;
  required: boolean;
}

const DEEPEST = 3;

/** The members of an object, and of the objects in it. */
export function membersOf(description: Description, written: Schema, prefix = "", depth = 0): Member[] {
  const schema = follow(description, written);
  if (schema.items) return membersOf(description, schema.items, prefix && `${prefix}[]`, depth);
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const path = prefix ? `${prefix}.${name}` : name;
    const target = follow(description, member);
    const row = {
      name: path,
      kind: kindOf(description, member),
      description: member.description ?? target.description ?? "",
      required: schema.required?.includes(name) ?? false,
    };
    return [row, ...(depth < DEEPEST ? membersOf(description, member, path, depth + 1) : [])];
  });
}
