"""Requests in users' words, by the tool that answers them. Routing by meaning learns from them."""

from __future__ import annotations

SEARCH = (
    "How do I add a sub-agent?",
    "What does the documentation say about authentication?",
    "Which settings control the context window?",
    "Explain how the agents talk to each other",
    "Where is it described how to deploy with Helm?",
    "What happens when a tool call is interrupted?",
    "Search the docs for rate limits",
    "Is there a guide for running several replicas?",
    "Why was SQLite chosen as the default database?",
    "Find the runbook for restarting the service",
    "How do I ingest my own documents?",
    "How do I switch to another model?",
    "What does this exit code mean?",
    "Where is the data stored?",
    "Do our docs cover upgrades?",
    "Is it written down anywhere who may approve a change?",
    "What do the documents say about backups?",
    "How long are conversations kept?",
    "Can the service work without a network?",
    "Find passages about time-outs",
    "What becomes of a request when the process is killed?",
    "Tell me how passwords get into the containers",
    "How much does it cost to run?",
    "Give me an overview of this project",
    "It is slow, or it hangs: what can I do?",
    "How do I change the port?",
    "How do I uninstall it?",
    "Can several people use it?",
    "Can I call it with curl or from a script?",
    "Which users may get in, and how are keys made?",
    "Does anything that I type leave this machine?",
    "How much memory and disk does it need?",
    "How do I delete or continue a conversation?",
    "Which kinds of files can be read?",
    "Why are the answers only copied sentences?",
    "Which values may this setting have?",
    "To whom do I report a security hole?",
)

FETCH_DOCUMENT = (
    "Show me the whole page docs/getting-started.md",
    "Open README.md",
    "Read docs/add-an-agent.md in full",
    "Give me the full text of the security document",
    "Print the section docs/operations.md#backup",
    "Fetch the document https://example.com/handbook.html",
    "I want to read docs/operations.md from beginning to end",
)

LIST_SOURCES = (
    "Which documents do you know?",
    "List your sources",
    "What is in the knowledge base?",
    "Show all ingested files",
    "What documentation can you search?",
    "Which pages have been indexed?",
    "Where does your knowledge come from?",
    "A list of everything that was ingested",
)
