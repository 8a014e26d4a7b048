// An agent on the JavaScript SDK: node server.mjs BINDING. Prints its URL once it listens.
import { randomUUID } from 'node:crypto';
import express from 'express';
import { Role, TaskState } from '@a2a-js/sdk';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';

const [binding] = process.argv.slice(2);

const part = (content, more = {}) => ({ content, metadata: undefined, filename: '', mediaType: '', ...more });
const words = (value) => part({ $case: 'text', value });
const textOf = (message) => message.parts.map((each) => (each.content?.$case === 'text' ? each.content.value : '')).join('');

class Turn {
  constructor(context, bus) {
    this.where = { taskId: context.taskId, contextId: context.contextId };
    this.bus = bus;
  }

  message(parts) {
    return {
      ...this.where, messageId: randomUUID(), role: Role.ROLE_AGENT, parts, metadata: undefined, extensions: [],
      referenceTaskIds: [],
    };
  }

  status(state, said) {
    const message = said ? this.message([words(said)]) : undefined;
    const status = { state, message, timestamp: new Date().toISOString() };
    this.bus.publish(AgentEvent.statusUpdate({ ...this.where, metadata: undefined, status }));
  }

  artifact(parts, { id = randomUUID(), append = false, lastChunk = true } = {}) {
    const artifact = { artifactId: id, name: 'result', description: '', parts, metadata: undefined, extensions: [] };
    this.bus.publish(AgentEvent.artifactUpdate({ ...this.where, metadata: undefined, append, lastChunk, artifact }));
  }
}

const does = {
  echo(turn, said) {
    turn.artifact([words(`You said ${said}`)]);
    turn.status(TaskState.TASK_STATE_COMPLETED);
  },
  pieces(turn) {
    const id = randomUUID();
    for (let at = 0; at < 100; at++) turn.artifact([words(`piece ${at}. `)], { id, append: at > 0, lastChunk: at === 99 });
    turn.status(TaskState.TASK_STATE_COMPLETED);
  },
  file(turn) {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, value) => value));
    turn.artifact([
      words('Here it is.'),
      part({ $case: 'raw', value: bytes }, { filename: 'all.bin', mediaType: 'application/octet-stream' }),
    ]);
    turn.status(TaskState.TASK_STATE_COMPLETED);
  },
  ask(turn) {
    turn.status(TaskState.TASK_STATE_INPUT_REQUIRED, 'Which colour?');
  },
  fail(turn) {
    turn.status(TaskState.TASK_STATE_FAILED, 'The disk is full.');
  },
  last(turn) {
    turn.status(TaskState.TASK_STATE_COMPLETED, 'The answer is in the last state.');
  },
};

class Executor {
  async execute(context, bus) {
    const turn = new Turn(context, bus);
    const said = textOf(context.userMessage);
    const known = context.task;
    if (said.includes('message')) {
      bus.publish(AgentEvent.message({ ...turn.message([words('A message alone.')]), taskId: '' }));
    } else {
      const status = { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: new Date().toISOString() };
      const task = { id: context.taskId, contextId: context.contextId, history: [context.userMessage], artifacts: [], metadata: undefined, status };
      bus.publish(AgentEvent.task(known ?? task));
      turn.status(TaskState.TASK_STATE_WORKING, 'I look.');
      const name = known ? 'echo' : Object.keys(does).find((each) => said.includes(each));
      does[name](turn, said);
    }
    bus.finished();
  }

  async cancelTask() {}
}

const app = express();
const server = app.listen(0, '127.0.0.1', () => {
  const base = `http://127.0.0.1:${server.address().port}`;
  const path = { JSONRPC: '/a2a', 'HTTP+JSON': '/rest' }[binding];
  const card = {
    name: 'javascript', description: 'Does small things.', version: '1.0.0', provider: undefined, signatures: [],
    supportedInterfaces: [{ url: `${base}${path}`, protocolBinding: binding, tenant: '', protocolVersion: '1.0' }],
    capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
    securitySchemes: {}, securityRequirements: [], defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'],
    skills: [{ id: 'do', name: 'Do', description: 'Does things.', tags: ['do'], examples: ['echo this'], inputModes: [], outputModes: [], securityRequirements: [] }],
  };
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new Executor());
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication };
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
  app.use(path, binding === 'JSONRPC' ? jsonRpcHandler(options) : restHandler(options));
  console.log(base);
});
