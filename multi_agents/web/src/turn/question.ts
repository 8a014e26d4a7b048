import type { A2AMessage, A2APart } from "@assistant-ui/react-a2a";
import { QUESTION } from "../wire/extensions";
import { list, object, text, type Json } from "../wire/json";
import { partsText } from "./parts";

export type FieldKind = "yes-no" | "words" | "lines" | "number" | "choice" | "choices" | "list" | "json";

export interface Field {
  name: string;
  title: string;
  description: string;
  kind: FieldKind;
  options: string[];
  required: boolean;
  initial: unknown;
  /** It asks for what nobody should tell an agent. */
  secret: boolean;
  /** It is for a password: what is written in it is shown nowhere. */
  masked: boolean;
  /** A number, or the values of a list, without fractions; values of a list that are numbers. */
  whole: boolean;
  numbers: boolean;
}

export interface Form {
  title: string;
  fields: Field[];
  /** Values that are sent as they are, such as the digest of what is approved. */
  fixed: Json;
  approval: boolean;
}

export interface Question {
  /** Of the message that asks: an answer names the question by it, so that it counts for no other one. */
  id: string;
  /** The agent that asks; empty for the one that is talked to. */
  origin: string;
  text: string;
  form?: Form | undefined;
  signIn: boolean;
}

export function readQuestion(message: A2AMessage | undefined, signIn: boolean): Question {
  const parts = message?.parts ?? [];
  const data = parts.map((part) => object(part.data)).find((value) => value?.["form"] !== undefined);
  const origin = text(data?.["origin"]) || text(object(message?.metadata?.[QUESTION])?.["origin"]);
  return {
    id: message?.messageId ?? "",
    origin,
    text: partsText(parts.filter((part) => !isForProgram(part, message))),
    form: readForm(data?.["form"]),
    signIn,
  };
}

/** Whether a part of an agent's message is not for reading: a form, or data of an agent behind it, which the words beside it tell. */
export function isForProgram(part: A2APart, message: A2AMessage | undefined): boolean {
  const passedOn = text(object(message?.metadata?.[QUESTION])?.["origin"]) !== "";
  return object(part.data)?.["form"] !== undefined || (passedOn && part.data !== undefined);
}

function readForm(value: unknown): Form | undefined {
  const schema = object(value);
  const properties = object(schema?.["properties"]);
  if (!schema || !properties) return undefined;
  const required = new Set(list(schema["required"]));
  const fixed: Json = {};
  const fields: Field[] = [];
  for (const name of ordered(Object.keys(properties), list(schema["propertyOrdering"]))) {
    const property = object(properties[name]) ?? {};
    if ("const" in property) fixed[name] = property["const"];
    else fields.push(readField(name, property, required.has(name)));
  }
  const only = fields[0];
  const approval = fields.length === 1 && only?.name === "approve" && only.kind === "yes-no";
  return { title: text(schema["title"]), fields, fixed, approval };
}

/** The fields as the agent has them: objects of protocol buffers come in any order, so that the order comes beside them. */
function ordered(names: string[], order: unknown[]): string[] {
  return [...new Set([...order.map(String).filter((name) => names.includes(name)), ...names])];
}

function readField(name: string, property: Json, required: boolean): Field {
  const title = text(property["title"]) || name;
  const description = text(property["description"]);
  return {
    name,
    title,
    description,
    kind: kindOf(property),
    options: optionsOf(property),
    required,
    initial: property["default"],
    secret: isPassword(property) || SECRET.test(`${name} ${title} ${description}`),
    masked: isPassword(property),
    whole: typeOfValue(property) === "integer",
    numbers: ["number", "integer"].includes(typeOfValue(property)),
  };
}

function kindOf(property: Json): FieldKind {
  if (optionsOf(property).length) return property["type"] === "array" ? "choices" : "choice";
  switch (property["type"]) {
    case "boolean":
      return "yes-no";
    case "number":
    case "integer":
      return "number";
    case "array":
      return LINES.has(typeOfValue(property)) ? "list" : "json";
    case "string":
    case undefined:
      return property["format"] === "textarea" || Number(property["maxLength"] ?? 0) > 200 ? "lines" : "words";
    default:
      return "json";
  }
}

function optionsOf(property: Json): string[] {
  const source = property["type"] === "array" ? object(property["items"]) : property;
  return list(source?.["enum"]).map(String).slice(0, 200);
}

/** A warning errs on the side of one too many. */
const SECRET = /pass(word|phrase|code)|passwd|secret|token|api[ _-]?key|private[ _-]?key|credential|\bpin\b|\botp\b|kennwort|passwort|contraseña|mot de passe/i;

function isPassword(property: Json): boolean {
  return property["format"] === "password" || property["writeOnly"] === true;
}

/** The types of values that a list holds one a line. */
const LINES = new Set(["string", "number", "integer"]);

function typeOfValue(property: Json): string {
  const source = property["type"] === "array" ? object(property["items"]) : property;
  return text(source?.["type"], "string");
}
