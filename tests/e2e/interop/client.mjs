// The client of the JavaScript SDK against an agent: node client.mjs CARD_BASE BINDING ADDRESS WEBHOOK
// Prints one JSON object: what each scenario saw.
import { randomUUID } from 'node:crypto';
import { Role, TaskState } from '@a2a-js/sdk';
import {
  ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory,
} from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';

const [base, binding, address, webhook] = process.argv.slice(2);

const card = await new DefaultAgentCardResolver().resolve(base);
const announced = card.supportedInterfaces.map((each) => each.protocolBinding);
card.supportedInterfaces = [{ url: address, protocolBinding: binding, tenant: '', protocolVersion: '1.0' }];
const transports = [new JsonRpcTransportFactory(), new RestTransportFactory(), new GrpcTransportFactory()];
const client = await new ClientFactory({ transports }).createFromAgentCard(card);

const part = (content, more = {}) => ({ content, metadata: undefined, filename: '', mediaType: '', ...more });
const words = (value) => part({ $case: 'text', value });

function request(parts, { contextId = '', taskId = '', ...configuration } = {}) {
  return {
    tenant: '',
    metadata: undefined,
    configuration: {
      acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: false, ...configuration,
    },
    message: {
      messageId: randomUUID(), contextId, taskId, role: Role.ROLE_USER, metadata: undefined, extensions: [],
      referenceTaskIds: [], parts: typeof parts === 'string' ? [words(parts)] : parts,
    },
  };
}

const send = (parts, options) => client.sendMessage(request(parts, options));
const state = (task) => TaskState[task.status.state].replace('TASK_STATE_', '').toLowerCase();
const textOf = (parts) => parts.map((each) => (each.content?.$case === 'text' ? each.content.value : '')).join('');
const answerOf = (artifacts) => textOf(artifacts.filter((each) => each.name === 'response').flatMap((each) => each.parts));

/** Events of a stream, and the answer as whoever follows append and replace has it. */
async function follow(stream, seen = () => {}) {
  const kinds = [];
  const states = [];
  const texts = new Map();
  let task = '';
  for await (const { payload } of stream) {
    kinds.push(payload.$case);
    if (payload.$case === 'task') {
      task = payload.value.id;
      states.push(state(payload.value));
      for (const each of payload.value.artifacts) texts.set(each.artifactId, textOf(each.parts));
    } else if (payload.$case === 'statusUpdate') {
      states.push(state(payload.value));
    } else if (payload.$case === 'artifactUpdate') {
      const { artifact, append } = payload.value;
      texts.set(artifact.artifactId, (append ? texts.get(artifact.artifactId) : '') + textOf(artifact.parts));
    }
    await seen(payload, task);
  }
  return { first: kinds[0], last: states.at(-1), text: [...texts.values()].join('\n'), events: kinds.length, task };
}

async function refused(call) {
  try {
    return { refused: false, got: await call() };
  } catch (error) {
    return { refused: true, kind: error.constructor.name, says: String(error.message) };
  }
}

const scenarios = {
  async card() {
    return { name: card.name, announced };
  },
  async blocking() {
    const task = await send('say hello');
    return { state: state(task), text: answerOf(task.artifacts) };
  },
  async streamed() {
    const { task, ...seen } = await follow(client.sendMessageStream(request('long')));
    const stored = await client.getTask({ tenant: '', id: task });
    return { ...seen, same: seen.text === answerOf(stored.artifacts) };
  },
  async conversation() {
    const first = await send('say one');
    const second = await send('say two', { contextId: first.contextId });
    const page = { tenant: '', contextId: first.contextId, status: TaskState.TASK_STATE_UNSPECIFIED, pageSize: 1, statusTimestampAfter: undefined };
    const newest = await client.listTasks({ ...page, pageToken: '' });
    const oldest = await client.listTasks({ ...page, pageToken: newest.nextPageToken });
    return {
      same: first.contextId === second.contextId,
      listed: [...newest.tasks, ...oldest.tasks].map((each) => each.id).join() === [second.id, first.id].join(),
      total: newest.totalSize,
      more: oldest.nextPageToken,
    };
  },
  async canceled() {
    const begun = await send('wait', { returnImmediately: true });
    const following = follow(client.resubscribeTask({ tenant: '', id: begun.id }));
    const ended = await client.cancelTask({ tenant: '', id: begun.id, metadata: undefined });
    const { first, last } = await following;
    return { state: state(ended), first, last };
  },
  async question() {
    const asked = await send('ask');
    const question = textOf(asked.status.message.parts);
    const { task, ...seen } = await follow(
      client.sendMessageStream(request('Paris', { taskId: asked.id, contextId: asked.contextId })),
    );
    return { state: state(asked), question, same: task === '' || task === asked.id, first: seen.first, last: seen.last, text: seen.text };
  },
  async files() {
    const task = await send('file');
    const found = task.artifacts.flatMap((each) => each.parts).find((each) => each.content?.$case === 'raw');
    return { base64: Buffer.from(found.content.value).toString('base64'), name: found.filename, type: found.mediaType };
  },
  async attached() {
    const content = { $case: 'raw', value: Buffer.from('first line\r\nsecond line') };
    const task = await send([words('size'), part(content, { filename: 'note.txt', mediaType: 'text/plain' })]);
    return { state: state(task), text: answerOf(task.artifacts) };
  },
  async pushed() {
    const hook = { tenant: '', taskId: '', id: '', url: webhook, token: 'a token', authentication: undefined };
    const task = await send('say pushed', { taskPushNotificationConfig: hook });
    const listed = await client.listTaskPushNotificationConfig({ tenant: '', taskId: task.id, pageSize: 0, pageToken: '' });
    const [one] = listed.configs;
    await client.deleteTaskPushNotificationConfig({ tenant: '', taskId: task.id, id: one.id });
    return { url: one.url, gone: await refused(() => client.getTaskPushNotificationConfig({ tenant: '', taskId: task.id, id: one.id })) };
  },
  async unknown() {
    return refused(() => client.getTask({ tenant: '', id: 'no-such-task' }));
  },
  async over() {
    const task = await send('say done');
    return refused(() => client.cancelTask({ tenant: '', id: task.id, metadata: undefined }));
  },
  async nothing() {
    return refused(() => send([]));
  },
  async archive() {
    const zip = part({ $case: 'raw', value: Buffer.from('PK') }, { filename: 'a.zip', mediaType: 'application/zip' });
    return refused(() => send([zip]));
  },
};

const found = {};
for (const [name, run] of Object.entries(scenarios)) {
  try {
    found[name] = await run();
  } catch (error) {
    found[name] = { failed: String(error.stack) };
  }
}
console.log(JSON.stringify(found));
process.exit(0);
