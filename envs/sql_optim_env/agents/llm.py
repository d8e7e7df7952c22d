"""A player that asks a language model for every action."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from sql_optim_env.agents.chat import Chat, ContextTooLong, Message, Reply
from sql_optim_env.agents.prompt import correction_text, opening_text, turn_text
from sql_optim_env.agents.reply import NotAnActionError, action_of
from sql_optim_env.agents.transcript import action_text
from sql_optim_env.models import SQLOptimAction, SQLOptimObservation

__all__ = ["ModelPlayer", "Tokens"]

_SHOWN_REPLY_CHARS = 2_000
"""Of a reply that held no valid action, in the conversation: its beginning is enough to see what was wrong."""
_SHOWN_ACTION_CHARS = 24_000
"""Of an action that was played, in the conversation: more than the longest statement that is admitted."""
_LISTED_TURNS = 20
"""Turns that are left out of the conversation but still named, newest of all."""


@dataclass(slots=True)
class Tokens:
    """What was counted so far."""

    requests: int = 0
    prompt: int = 0
    completion: int = 0


@dataclass(frozen=True, slots=True)
class _Turn:
    """One action, as the model's message, and what it led to."""

    action: str
    outcome: str
    line: str

    @property
    def size(self) -> int:
        return len(self.action) + len(self.outcome)


class ModelPlayer:
    """Plays with a model: the opening, then its actions and what they led to, as one conversation of user and assistant.

    A reply without a valid action is answered with the reason, at most ``corrections`` times for one action; then nothing is submitted,
    which uses up a submission and so brings the episode to its end. The conversation is kept within ``context_chars`` characters beside
    the opening: the oldest turns are left out and only named, the newest is always there. An opening observation begins a new
    conversation, so nothing is carried from one episode to the next.

    ``act`` raises :class:`~sql_optim_env.agents.chat.ChatError` when no reply is to be had.
    """

    def __init__(
        self,
        chat: Chat,
        name: str,
        *,
        corrections: int = 3,
        context_chars: int = 60_000,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.name = name
        self.tokens = Tokens()
        self._chat = chat
        self._corrections = corrections
        self._context_chars = context_chars
        self._say = say
        self._opening = ""
        self._turns: list[_Turn] = []
        self._left_out: list[str] = []
        self._pending: SQLOptimAction | None = None

    def act(self, observation: SQLOptimObservation) -> SQLOptimAction:
        """The model's next action, or an empty submission when it gives none."""
        self._hear(observation)
        self._pending = self._next_action()
        return self._pending

    def _hear(self, observation: SQLOptimObservation) -> None:
        if observation.step_count == 0 or self._pending is None:
            self._opening = opening_text(observation)
            self._turns, self._left_out = [], []
            return
        said = {"kind": self._pending.kind, **self._pending.model_dump(mode="json", exclude_defaults=True)}
        action = json.dumps(said, ensure_ascii=False)[:_SHOWN_ACTION_CHARS]
        self._turns.append(_Turn(action, turn_text(observation), action_text(self._pending)))
        while len(self._turns) > 1 and sum(turn.size for turn in self._turns) > self._context_chars:
            self._leave_out()

    def _leave_out(self) -> None:
        self._left_out.append(self._turns.pop(0).line)

    def _next_action(self) -> SQLOptimAction:
        corrections: list[Message] = []
        while True:
            reply = self._ask(corrections)
            try:
                return action_of(reply.text, cut_off=reply.cut_off)
            except NotAnActionError as problem:
                reason = str(problem)
            self._say(f"the model's reply is no action: {reason}")
            if len(corrections) >= 2 * self._corrections:
                self._say("the model gave no valid action; submitting nothing in its place")
                return SQLOptimAction()
            # Some endpoints refuse a message without content.
            said = reply.text.strip()[:_SHOWN_REPLY_CHARS] or "(no reply)"
            corrections += [{"role": "assistant", "content": said}, {"role": "user", "content": correction_text(reason)}]

    def _ask(self, corrections: list[Message]) -> Reply:
        while True:
            try:
                reply = self._chat.ask([*self._conversation(), *corrections])
            except ContextTooLong:
                if len(self._turns) <= 1:
                    raise
                for _ in range(len(self._turns) // 2):
                    self._leave_out()
                self._say(f"the conversation is too long for the model; it now holds the last {len(self._turns)} turns")
                continue
            self.tokens.requests += 1
            self.tokens.prompt += reply.prompt_tokens
            self.tokens.completion += reply.completion_tokens
            return reply

    def _conversation(self) -> list[Message]:
        """User and assistant in turn; the instructions stand in the first message since not every model knows a system's."""
        opening = self._opening
        if self._left_out:
            named = "\n".join(f"- {line}" for line in self._left_out[-_LISTED_TURNS:])
            opening += f"\n\n({len(self._left_out)} earlier actions are left out here; the last of them were:\n{named})"
        messages: list[Message] = [{"role": "user", "content": opening}]
        for turn in self._turns:
            messages += [{"role": "assistant", "content": turn.action}, {"role": "user", "content": turn.outcome}]
        return messages
