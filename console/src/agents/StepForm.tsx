import { Alert, Anchor, Button, Checkbox, Group, NativeSelect, SegmentedControl, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useRef } from "react";
import { useAsk } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { sentence } from "../ui/Problem";
import { ContextNames, SecretsOfAgent } from "./agents.gql";
import { faultOf, JsonField, PairsField, TextField, ValueField } from "./fields";
import { type Change, nameOf, newStep, type StepType, types } from "./steps";
import { type Check, faultsAt } from "./useCheck";
import type { Json, JsonObject } from "./value";

interface Props {
  step: JsonObject;
  at: number;
  steps: readonly JsonObject[];
  check: Check | undefined;
  change: Change | undefined;
  agentId: string;
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"];

// The fields that the form has, by type.
const known: Record<StepType, readonly string[]> = {
  set: ["values"], search: ["contextId", "prompt", "topN", "scoreThreshold"], ask: ["contextId", "prompt", "topN", "minRelevance"],
  chat: ["prompt", "system", "messages", "model"],
  http: ["url", "method", "headers", "body", "anyStatus"], fail: ["message", "code"],
};

/** One step as a form. Each expression is checked by the platform as it is typed. */
export function StepForm(props: Props) {
  const { text } = useText();
  const { step, at, steps, check, change } = props;
  const last = useRef<HTMLInputElement | HTMLTextAreaElement>(null);
  const type = types.find((one) => one === step.type);
  const place = `steps[${at}]`;
  const fields = ["id", "type", "when", ...(type ? known[type] : [])];
  const others = faultsAt(check, place).filter(({ within }) => !fields.some((field) => within === field || within.startsWith(`${field}.`) || within.startsWith(`${field}[`)));
  const replace = (next: JsonObject) => change?.(({ steps, output }) => ({ steps: steps.map((one, index) => (index === at ? next : one)), output }));
  return (
    <Stack gap="sm" onFocus={({ target }) => {
      if ((target instanceof HTMLInputElement && target.type === "text") || target instanceof HTMLTextAreaElement) last.current = target;
    }}>
      <Title order={2} size="h5">{nameOf(step, at)}</Title>
      {others.length > 0 && <Alert color="yellow">{others.map(({ within, message }) => <Text size="sm" key={within + message}>{sentence(within ? `${within}: ${message}` : message)}</Text>)}</Alert>}
      <TextField label={text.agents.fields.id} {...field(props, "id")} />
      <NativeSelect
        label={text.agents.fields.type} value={type ?? ""} disabled={!change} error={faultOf(check, `${place}.type`)}
        data={[...(type ? [] : [{ value: "", label: String(step.type ?? "") }]), ...types.map((value) => ({ value, label: text.agents.types[value] }))]}
        onChange={({ currentTarget: { value } }) => {
          const next = types.find((one) => one === value);
          if (next) replace({ ...newStep(next, steps), id: step.id ?? "", ...(step.when === undefined ? {} : { when: step.when }) });
        }}
      />
      {type && <Text size="xs" c="dimmed">{text.agents.typeHints[type]}</Text>}
      {type === "set" && <PairsField label={text.agents.fields.values} {...field(props, "values")} />}
      {(type === "search" || type === "ask") && <SearchFields {...props} least={type === "ask" ? "minRelevance" : "scoreThreshold"} />}
      {type === "chat" && <ChatFields {...props} replace={replace} />}
      {type === "http" && <HttpFields {...props} />}
      {type === "fail" && (
        <>
          <TextField label={text.agents.fields.message} rows={2} {...field(props, "message")} />
          <TextField label={text.agents.fields.code} hint={text.agents.hints.code} {...field(props, "code")} />
        </>
      )}
      <ValueField label={text.agents.fields.when} hint={text.agents.hints.when} {...field(props, "when")} />
      {change && <Readable {...props} insert={(expression) => {
        const into = last.current;
        if (!into?.isConnected) return;
        into.focus();
        into.setRangeText(expression, into.selectionStart ?? into.value.length, into.selectionEnd ?? into.value.length, "end");
        into.dispatchEvent(new Event("input", { bubbles: true }));
      }} />}
    </Stack>
  );
}

/** What a field of the step needs, by its name. */
function field({ step, at, check, change }: Props, name: string) {
  const set = change && ((value: Json | undefined) => change(({ steps, output }) => ({
    steps: steps.map((one, index) => {
      if (index !== at) return one;
      const { [name]: _, ...rest } = one;
      return value === undefined ? rest : { ...rest, [name]: value };
    }),
    output,
  })));
  return { value: step[name], set, check, place: `steps[${at}].${name}` };
}

function SearchFields({ least, ...props }: Props & { least: "minRelevance" | "scoreThreshold" }) {
  const { text } = useText();
  const me = useMe();
  const { data } = useAsk(ContextNames, {}, { pause: !me.can("context.read") });
  const contexts = data?.contexts?.nodes ?? [];
  const { value, set, check, place } = field(props, "contextId");
  const known = contexts.some(({ databaseId }) => databaseId === value);
  return (
    <>
      <NativeSelect
        label={text.agents.fields.contextId} disabled={!set} value={known ? String(value) : ""} error={known ? faultOf(check, place) : undefined}
        data={[{ value: "", label: text.agents.byExpression }, ...contexts.map(({ databaseId, name }) => ({ value: String(databaseId), label: name }))]}
        onChange={({ currentTarget: { value: next } }) => set?.(next === "" ? "{{ input.context }}" : Number(next))}
      />
      {!known && <ValueField label={text.agents.fields.contextExpression} {...field(props, "contextId")} />}
      <TextField label={text.agents.fields.searchPrompt} rows={3} {...field(props, "prompt")} />
      <ValueField label={text.agents.fields.topN} hint={text.agents.hints.topN} {...field(props, "topN")} />
      <ValueField label={text.agents.fields[least]} hint={text.agents.hints[least]} {...field(props, least)} />
    </>
  );
}

function ChatFields({ replace, ...props }: Props & { replace: (step: JsonObject) => void }) {
  const { text } = useText();
  const { step, change } = props;
  const talk = step.messages !== undefined;
  const { prompt: _, system: __, messages: ___, ...rest } = step;
  return (
    <>
      <SegmentedControl
        size="xs" transitionDuration={0} aria-label={text.agents.fields.asks} disabled={!change} value={talk ? "messages" : "prompt"}
        data={[{ value: "prompt", label: text.agents.oneQuestion }, { value: "messages", label: text.agents.conversation }]}
        onChange={(next) => {
          if (next === "messages" && !talk) replace({ ...rest, messages: [{ role: "user", content: typeof step.prompt === "string" ? step.prompt : "" }] });
          else if (next === "prompt" && talk) replace({ ...rest, prompt: "" });
        }}
      />
      {talk ? <JsonField label={text.agents.fields.messages} hint={text.agents.hints.messages} rows={8} {...field(props, "messages")} /> : (
        <>
          <TextField label={text.agents.fields.prompt} rows={5} {...field(props, "prompt")} />
          <TextField label={text.agents.fields.system} hint={text.agents.hints.system} rows={3} {...field(props, "system")} />
        </>
      )}
      <TextField label={text.agents.fields.model} hint={text.agents.hints.model} {...field(props, "model")} />
    </>
  );
}

function HttpFields(props: Props) {
  const { text } = useText();
  const method = field(props, "method");
  const body = field(props, "body");
  const any = field(props, "anyStatus");
  const json = body.value !== undefined && typeof body.value !== "string";
  return (
    <>
      <TextField label={text.agents.fields.url} hint={text.agents.hints.url} {...field(props, "url")} />
      <NativeSelect
        label={text.agents.fields.method} disabled={!method.set} error={faultOf(method.check, method.place)} value={typeof method.value === "string" ? method.value : "GET"}
        data={typeof method.value === "string" && !methods.includes(method.value) ? [method.value, ...methods] : methods} onChange={({ currentTarget: { value } }) => method.set?.(value === "GET" ? undefined : value)}
      />
      <PairsField label={text.agents.fields.headers} texts {...field(props, "headers")} />
      {json ? <JsonField label={text.agents.fields.body} {...body} /> : <TextField label={text.agents.fields.body} rows={4} {...body} />}
      {body.set && (
        <Checkbox size="xs" label={text.agents.bodyJson} checked={json} onChange={({ currentTarget: { checked } }) => body.set?.(checked ? {} : undefined)} />
      )}
      {typeof any.value === "string" ? <ValueField label={text.agents.fields.anyStatus} {...any} /> : (
        <Checkbox size="xs" label={text.agents.fields.anyStatus} description={text.agents.hints.anyStatus} disabled={!any.set} checked={any.value === true} onChange={({ currentTarget: { checked } }) => any.set?.(checked || undefined)} />
      )}
    </>
  );
}

/** What expressions of the step can read, each with a button that puts it where one wrote last. */
function Readable({ at, steps, step, check, agentId, insert }: Props & { insert: (expression: string) => void }) {
  const { text } = useText();
  const me = useMe();
  const sends = step.type === "http" || step.type === "chat";
  const { data } = useAsk(SecretsOfAgent, { id: agentId }, { pause: !sends || !me.can("agent.write") });
  const inputs = [...new Set((check ? [...check.steps, check.output] : []).flatMap(({ input }) => input))].sort();
  const secrets = sends ? data?.agent?.account?.customer.secrets ?? [] : [];
  const all = [
    ...(inputs.length > 0 ? inputs : ["question"]).map((name) => `input.${name}`),
    ...steps.slice(0, at).map((one, index) => `steps.${nameOf(one, index)}`),
    ...secrets.map(({ name }) => `secrets.${name}`),
  ];
  return (
    <Stack gap={4} component="section" aria-label={text.agents.readable}>
      <Text size="sm" fw={600}>{text.agents.readable}</Text>
      <Text size="xs" c="dimmed">{text.agents.readableHint}</Text>
      <Group gap={6}>
        {all.map((name) => <Button key={name} size="compact-xs" variant="default" ff="monospace" fw={400} onClick={() => insert(`{{ ${name} }}`)}>{name}</Button>)}
      </Group>
      {sends && me.can("agent.write") && <><Text size="xs" c="dimmed">{text.agents.secretsHere}</Text><Anchor component={Link} to="/agents/secrets" size="xs" w="fit-content">{text.agents.lists.secrets}</Anchor></>}
    </Stack>
  );
}
