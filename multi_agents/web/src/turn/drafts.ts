import { keep, kept } from "../wire/tab";
import type { Field, Form } from "./question";

/** What was filled in, kept for a reload in this tab alone; what looks like a secret is not kept. */
export function keepDraft(taskId: string, form: Form, values: Record<string, unknown>): void {
  const open = form.fields.filter((field) => !field.secret).map((field) => [field.name, values[field.name]]);
  keep(nameOf(taskId), JSON.stringify(Object.fromEntries(open)));
}

export function draft(taskId: string, form: Form): Record<string, unknown> {
  const initial = Object.fromEntries(form.fields.map((field) => [field.name, initialOf(field)]));
  try {
    const written: unknown = JSON.parse(kept(nameOf(taskId)) || "{}");
    return { ...initial, ...(written as Record<string, unknown>) };
  } catch {
    return initial; // something else wrote there
  }
}

function initialOf(field: Field): unknown {
  if (field.kind === "list" && Array.isArray(field.initial)) return field.initial.join("\n");
  return field.initial ?? (field.kind === "yes-no" ? false : field.kind === "choices" ? [] : "");
}

export function forgetDraft(taskId: string): void {
  keep(nameOf(taskId), "");
}

function nameOf(taskId: string): string {
  return `form ${taskId}`;
}

/** The values as the schema wants them; a sentence where one cannot be. */
export function filled(form: Form, values: Record<string, unknown>): Record<string, unknown> | string {
  const answer: Record<string, unknown> = { ...form.fixed };
  for (const field of form.fields) {
    const written = values[field.name];
    const value = field.kind === "list" ? linesOf(String(written)) : written;
    if (value === "" || value === undefined || (Array.isArray(value) && !value.length)) {
      if (field.required) return `${field.title} is missing.`;
      continue;
    }
    if (field.kind === "list") {
      const found = field.numbers ? (value as string[]).map(Number) : value;
      if (field.numbers && !(found as number[]).every(field.whole ? Number.isInteger : Number.isFinite)) return `${field.title} must be ${field.whole ? "whole numbers" : "numbers"}, one a line.`;
      answer[field.name] = found;
    } else if (field.kind === "number") {
      if (!Number.isFinite(Number(value))) return `${field.title} must be a number.`;
      answer[field.name] = Number(value);
    } else if (field.kind === "json") {
      try {
        answer[field.name] = JSON.parse(String(value));
      } catch {
        return `${field.title} must be JSON.`;
      }
    } else answer[field.name] = value;
  }
  return answer;
}

function linesOf(written: string): string[] {
  return written.split("\n").map((line) => line.trim()).filter(Boolean);
}
