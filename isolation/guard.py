"""A child process for players that might never answer."""

from __future__ import annotations

import multiprocessing
import os
import signal
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING

from isolation.search.result import SearchResult

if TYPE_CHECKING:
    from isolation.agents import Agent, Player
    from isolation.board import Board


class Hang(Exception):
    """A player did not answer within the hard cap, or its process died."""


@dataclass
class Guard:
    """An agent's child process, kept between games and replaced when it had to be killed.

    The child is forked, so that agents need not be picklable.
    """

    agent: Agent
    hard_cap: float
    _process: BaseProcess | None = field(default=None, init=False)
    _pipe: Connection | None = field(default=None, init=False)

    def new_player(self) -> Player:
        """A player for one game, who lives in the child."""
        self._ask("new game")
        return self

    def choose(self, board: Board, seed: int) -> SearchResult:
        """The move the child chooses.

        Raises:
            Hang: no answer within the hard cap.
            Exception: what the player's code raised.
        """
        result = self._ask((board, seed))
        assert isinstance(result, SearchResult)
        return result

    def close(self) -> None:
        """End the child."""
        if self._process is not None and self._pipe is not None:
            self._pipe.close()
            self._process.kill()
            self._process.join()
        self._process = self._pipe = None

    def _ask(self, question: object) -> object:
        if self._process is None or self._pipe is None:
            self._start()
        assert self._pipe is not None
        try:
            self._pipe.send(question)
            if not self._pipe.poll(self.hard_cap):
                self.close()
                raise Hang(f"no answer within {self.hard_cap:g} s")
            answer = self._pipe.recv()
        except (EOFError, ConnectionError):
            self.close()
            raise RuntimeError("its process died") from None
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def _start(self) -> None:
        context = multiprocessing.get_context("fork")
        self._pipe, child_pipe = context.Pipe()
        self._process = context.Process(target=_serve, args=(self.agent, child_pipe), daemon=True)
        self._process.start()
        child_pipe.close()


def _serve(agent: Agent, pipe: Connection) -> None:
    """Answer questions until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    player = agent.new_player()
    while True:
        try:
            question = pipe.recv()
        except (EOFError, ConnectionError):
            os._exit(0)
        try:
            if isinstance(question, str):
                player = agent.new_player()
                answer: object = None
            else:
                answer = player.choose(*question)
        except BaseException as error:
            answer = error
        try:
            pipe.send(answer)
        except Exception:
            pipe.send(RuntimeError(f"{type(answer).__name__}: {answer}"))
