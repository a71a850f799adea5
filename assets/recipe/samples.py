"""What a checkpoint says: `python -m kestrel_assets.recipe.samples --checkpoint DIR`.

Answers held-out questions and plays scripted chats with the engine, at the settings of the checkpoint's
generation_config.json. Each answer has its own seed, so one answer can be made again without the others.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from kestrel_assets.recipe.errors import RecipeError, run_command
from kestrel_engine.errors import KestrelError
from kestrel_engine.loader import load
from kestrel_engine.options import EngineOptions, SamplingOptions
from kestrel_engine.session import Turn

ANSWER_TOKENS = 400
CHATS = (
    (
        "Hello!",
        "My name is Maria.",
        "I like painting and long walks.",
        "Can you tell me a joke?",
        "What is 7 plus 5?",
        "What do you know about the moon?",
        "Do you remember my name?",
        "What do I like?",
        "Tell me a short story about a fox.",
        "Thank you, goodbye!",
    ),
    (
        "Good morning",
        "Who are you?",
        "What can you do?",
        "How do you work?",
        "What is speculative decoding?",
        "What is a draft head?",
        "Are you a human?",
        "Do you have a family?",
        "I'm a bit tired today.",
        "See you tomorrow.",
    ),
    ("Hi, how are you?", "I had a long day at work.", "I'm a teacher.", "The children were loud today."),
    ("Tell me a story about a girl named Lily and a kite.", "Nice! Another one about a dog, please."),
    ("How do I make a cup of tea?", "And how do I boil an egg?", "Thanks!"),
    ("What is the capital of France?", "And of Japan?", "Who won the match yesterday?"),
    ("Count from three to nine.", "Name four colors.", "How many meters are in two kilometers?"),
    ("Write a poem about rain.", "I love it."),
    ("I feel sad.", "My cat is ill.", "What can I do?"),
    ("What is a robot?", "What is a river?", "Which one are you?", "Bye"),
)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="samples", description="Let a checkpoint answer and chat.")
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=50, help="held-out questions to answer")
    parser.add_argument("--chats", type=int, default=len(CHATS), help="scripted chats to play")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--greedy", action="store_true", help="take the likeliest token instead of sampling")
    parser.add_argument("--output", choices=("text", "json"), default="text")
    options = parser.parse_args(arguments)
    return run_command(lambda: show(options))


def show(options: argparse.Namespace) -> None:
    speaker = Speaker(options.checkpoint, options.greedy)
    as_json = options.output == "json"
    for number, messages in enumerate(conversations(options.questions, options.chats)):
        speaker.play(messages, options.seed * 1000 + number)
        print(json.dumps(messages) if as_json else as_text(messages), flush=True)


def conversations(questions: int, chats: int) -> Iterator[list[dict]]:
    """Messages of the users, one list a chat; the answers are still to be made."""
    from kestrel_assets.recipe.dialogues import questions as held_out

    asked = held_out()
    for number in range(min(questions, len(asked))):
        _, question = asked[number * len(asked) // questions]
        yield [{"role": "user", "content": question}]
    for script in CHATS[:chats]:
        yield [{"role": "user", "content": said} for said in script]


class Speaker:
    """A checkpoint that answers. Raises RecipeError when the folder cannot be loaded."""

    def __init__(self, checkpoint: Path, greedy: bool = False) -> None:
        try:
            loaded = load(EngineOptions(model=str(checkpoint)), emit=lambda event: None)
        except KestrelError as error:
            raise RecipeError(f"cannot load {checkpoint} ({error})") from error
        self._session, self._tokenizer = loaded.session, loaded.tokenizer
        self._sampling = SamplingOptions() if greedy else loaded.defaults

    def play(self, messages: list[dict], seed: int) -> None:
        """Put an answer after every user message, in place."""
        script = list(messages)
        messages.clear()
        for message in script:
            messages.append(message)
            messages.append({"role": "assistant", "content": self.answer(messages, seed + len(messages))})

    def answer(self, messages: list[dict], seed: int) -> str:
        """The answer to `messages`; one that did not end by itself is marked with an ellipsis."""
        turn = Turn(
            prompt=self._tokenizer.encode_chat(messages, think=None),
            sampling=replace(self._sampling, seed=seed),
            max_tokens=ANSWER_TOKENS,
        )
        ended = self._session.answer(turn, emit=lambda event: None, cancelled=lambda: False)
        return ended.text.strip() + ("" if ended.finish_reason == "stop" else " …")


def as_text(messages: list[dict]) -> str:
    lines = [
        f"{'you' if message['role'] == 'user' else 'nano'}> {message['content']}" for message in messages
    ]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.exit(main())
