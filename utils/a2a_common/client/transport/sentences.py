"""The sentences of failed delegations. A sub-agent's own message takes precedence over `SUB_AGENT_FAILED`."""

SUB_AGENT_UNKNOWN = (
    "The supervisor has not reached the {agent} agent yet. Try again in a moment; /agents shows its state."
)
SUB_AGENT_CARD_UNUSABLE = "The {agent} agent cannot be called. {why}"
SUB_AGENT_UNREACHABLE = "The {agent} agent cannot be reached right now."
ANSWER_UNDELIVERED = (
    "{why} It still waits for your answer; nothing was done with it. "
    "Please send the answer again in a moment. It asked: {question}"
)
SUB_AGENT_NOT_STORED = "The {agent} agent can store nothing right now, so it took no message. Its disk may be full: its log has the details."
SUB_AGENT_DOWN = (
    "The {agent} agent has been unavailable since {since:%H:%M:%S} UTC. The next try is in {seconds} s."
)
SUB_AGENT_BUSY = "The {agent} agent is busy with other requests."
SUB_AGENT_LATE = "The {agent} agent did not finish within {seconds:.0f} seconds."
SUB_AGENT_LOST = "The answer of the {agent} agent was lost."
MAY_HAVE_DONE_IT = "It may have done what it was asked. Check whether it did before you ask again."
AGENT_UNCLEAR = f"The agent's answer was lost. {MAY_HAVE_DONE_IT}"
SUB_AGENT_STOPPED = "The {agent} agent stopped answering."
SUB_AGENT_LEFT = "The {agent} agent ended its answer before its task was done, and the task showed no change for {seconds:.0f} seconds."
SUB_AGENT_UNREADABLE = "The {agent} agent answered with something that is not A2A."
SUB_AGENT_FORGOT = (
    "The {agent} agent no longer has the question that you answered: it deletes conversations after a shorter time (its RETENTION_DAYS), "
    "or its data was lost. Nothing was done with your answer. Send your request again."
)
SUB_AGENT_REFUSED = "The {agent} agent refused the request."
SUB_AGENT_NOT_GRANTED = (
    "The {agent} agent was not asked: your identity provider gives no access to it in your name."
)
SUB_AGENT_NOT_EXCHANGED = (
    "The {agent} agent was not asked: your identity provider gave no answer about access to it. "
    "Please send your message again later."
)
SUB_AGENT_NEEDS_MESSAGE = (
    "The {agent} agent was not asked: it takes requests in your name only while your message is fresh. "
    "Please send your message again."
)
SUB_AGENT_FAILED = "The {agent} agent failed."
SUB_AGENT_CRASHED = (
    "The {agent} agent had an internal error. Its log has the details, under the same trace id."
)
SUB_AGENT_CUT_OFF = "The {agent} agent was stopped during something whose outcome it does not know."
SUB_AGENT_ENDED = "The {agent} agent ended the task as {state}."
SUB_AGENT_ANSWER_WRONG = "The {agent} agent's answer {complaint}."
SUB_AGENT_NO_ANSWER = "The {agent} agent completed the task without an answer."
