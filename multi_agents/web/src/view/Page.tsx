import { AssistantRuntimeProvider, useExternalStoreRuntime, type AssistantRuntime } from "@assistant-ui/react";
import { useEffect, useMemo, useState, useSyncExternalStore, type ReactElement } from "react";
import type { A2APart } from "@assistant-ui/react-a2a";
import { together } from "../conversation/answers";
import type { Conversation, Shown } from "../conversation/conversation";
import { exportConversation } from "../conversation/export";
import { attachmentsFor, modesOf, partsOf } from "../conversation/files";
import { asMessage, type Item } from "../conversation/items";
import type { Session } from "../conversation/session";
import { keepUnsent, unsent } from "../conversation/unsent";
import type { Question } from "../turn/question";
import type { Turn } from "../turn/turn";
import { remembers } from "../wire/memories";
import { name } from "../turn/visible";
import { Announcer } from "./Announcer";
import { DeskContext, type Desk } from "./desk";
import { Drawer } from "./Drawer";
import { Header } from "./Header";
import { useHealth, useStored } from "./hooks";
import { KeyEntry } from "./KeyEntry";
import { Remembered } from "./Remembered";
import { Sidebar } from "./Sidebar";
import { Thread } from "./Thread";
import { Work } from "./Work";

const WIDE = "(min-width: 1180px)";

/** The page of whoever is at it. What is open on it, as a dialog with what is remembered of them, is not shown to the next one. */
export function Page({ session }: { session: Session }): ReactElement {
  const person = useSyncExternalStore(session.subscribe, session.person);
  return <Desktop key={person} session={session} />;
}

function Desktop({ session }: { session: Session }): ReactElement {
  const conversation = useSyncExternalStore(session.subscribe, session.current);
  const shown = useStored(conversation);
  useStored(session.library);
  const health = useHealth(session);
  const wide = useMedia(WIDE);
  const [menu, setMenu] = useState(false);
  const [drawer, setDrawer] = useState(false);
  const [remembered, setRemembered] = useState(false);
  const [chosen, setChosen] = useState<Turn>();
  const turn = chosen && shown.items.some((item) => item.turn === chosen) ? chosen : shown.turn;
  const agent = name(health.card?.name ?? "", 60) || "agent";
  const title = session.library.nameOf(conversation.id) || titleOf(shown);
  useEffect(() => {
    document.title = title ? `${title} · ${agent}` : capital(agent);
  }, [title, agent]);
  const send = (parts: A2APart[]): void => {
    setChosen(undefined);
    session.send(conversation, parts);
  };
  const answer = (parts: A2APart[], which: Turn, question: Question): void => {
    setChosen(undefined);
    session.answer(conversation, parts, which, question);
  };
  const again = (which: Turn): void => {
    setChosen(undefined);
    session.again(which);
  };
  const desk: Desk = { wide, agent, shown: turn, asks: shown.turn?.waits ?? false, show: setChosen, again };
  const open = (id: string): void => {
    setMenu(false);
    setChosen(undefined);
    session.switch(id);
  };
  const work = wide && turn && (turn.calls.size > 0 || turn.plan.length > 0 || turn.usage.length > 0);
  const { locked } = session;
  const openToAll = health.card !== undefined && !health.card.securityRequirements?.length;
  const named = JSON.stringify(modesOf(health.card)); // the card is read again and again, and says the same
  const modes = useMemo<readonly string[]>(() => JSON.parse(named), [named]);
  return (
    <DeskContext.Provider value={desk}>
      <div className={`page ${menu ? "menu-open" : ""} ${work ? "with-work" : ""}`}>
        <nav className="sidebar" id="conversations" aria-label="Conversations" onKeyDown={(event) => event.key === "Escape" && setMenu(false)}>
          <Sidebar session={session} open={conversation.id} onOpen={open} />
          {remembers(health.card) && !locked && (
            <button type="button" className="soft" onClick={() => setRemembered(true)}>
              Your memories
            </button>
          )}
          {session.credentials.known && (
            <button type="button" className="soft" title="This tab forgets the key and what was typed in it" onClick={() => session.forget()}>
              Forget this key
            </button>
          )}
          {openToAll && <p className="hint shared">Everybody who reaches this address sees these conversations.</p>}
        </nav>
        {menu && <button type="button" className="backdrop" aria-label="Close the list" onClick={() => setMenu(false)} />}
        <div className="middle">
          <Header title={title} health={health} menu={menu} onMenu={() => setMenu(!menu)} onExport={shown.items.length ? () => void exportConversation(title || "conversation") : undefined} onDrawer={() => setDrawer(true)} />
          {locked ? (
            <main>
              <KeyEntry problem={session.loginProblem} ended={session.credentials.known} elsewhere={openToAll} onKey={(key) => session.authenticate(key)} />
            </main>
          ) : (
            <Runtime key={conversation.id} conversation={conversation} shown={shown} modes={modes} send={send}>
              <Thread conversation={conversation} shown={shown} health={health} modes={modes} send={send} onAnswer={answer} onNew={() => session.beginAnew()} />
            </Runtime>
          )}
        </div>
        {work && (
          <aside className="side-work" aria-label="Work" tabIndex={0}>
            <Work turn={turn} agent={agent} version={turn.version} />
          </aside>
        )}
        {drawer && <Drawer card={health.card} turn={turn} credentials={session.credentials} onClose={() => setDrawer(false)} />}
        {remembered && <Remembered memories={session.memories} onClose={() => setRemembered(false)} />}
        <Announcer shown={shown} />
      </div>
    </DeskContext.Provider>
  );
}

/** assistant-ui over our own store: it shows the messages, and gives back what is written. */
function Runtime({ conversation, shown, modes, send, children }: { conversation: Conversation; shown: Shown; modes: readonly string[]; send: (parts: A2APart[]) => void; children: ReactElement }): ReactElement {
  const messages = useMemo(() => [...shown.items], [shown.items]);
  const attachments = useMemo(() => attachmentsFor(modes), [modes]);
  const runtime = useExternalStoreRuntime<Item>({
    messages,
    isRunning: shown.running,
    isLoading: shown.stage === "loading",
    convertMessage: asMessage,
    onNew: async (message) => send(partsOf(message)),
    onCancel: () => conversation.stop(),
    adapters: { attachments },
  });
  useUnsent(conversation, runtime);
  return <AssistantRuntimeProvider runtime={runtime}>{children}</AssistantRuntimeProvider>;
}

/** Puts back what was typed here before, and keeps what is typed until it is sent. */
function useUnsent(conversation: Conversation, { thread }: AssistantRuntime): void {
  const { composer } = thread;
  useState(() => composer.setText(unsent(conversation.place)));
  useEffect(() => {
    conversation.takeBack = (words) => composer.setText(together(words, composer.getState().text));
    return () => {
      conversation.takeBack = undefined;
    };
  }, [conversation, composer]);
  useEffect(() => composer.subscribe(() => keepUnsent(conversation.place, composer.getState().text)), [conversation, composer]);
}

function titleOf(shown: Shown): string {
  return name(shown.items.find((item) => item.role === "user")?.text ?? "", 80);
}

function capital(words: string): string {
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

function useMedia(query: string): boolean {
  const media = useMemo(() => matchMedia(query), [query]);
  return useSyncExternalStore(
    (listener) => {
      media.addEventListener("change", listener);
      return () => media.removeEventListener("change", listener);
    },
    () => media.matches,
  );
}
