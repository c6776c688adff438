"""Schema of a project: question, classes, costs, plan, onboarding of workers, platforms."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from crowdpilot.service import capacity
from crowdpilot.service.project_campaign import make_campaign
from crowdpilot.service.schemas.fields import (
    Address,
    Code,
    Color,
    Currency,
    Email,
    Kind,
    Money,
    Name,
    Picture,
    Plain,
    Prose,
    Share,
    Strict,
)

LANGUAGES = "en", "de", "fr", "es", "ar"  # of the worker pages
Event = Literal["done", "stuck", "budget", "worker"]
NOTIFIED_EVENTS: tuple[Event, ...] = ("done", "stuck", "budget", "worker")
RESERVED_KEYS = "0cupfh"  # can't tell (twice), undo, pause, flag, help


class Criterion(Strict):
    """One of several questions about each item, which is included only if all are answered with yes."""

    name: Name
    question: Prose = ""


class ClassDetails(Strict):
    """What workers see of a class besides its name, and the key that answers with it."""

    description: Annotated[Plain, Field(max_length=2000)] = ""
    key: Annotated[Plain, Field(pattern=r"^[A-Za-z1-9]?$")] = ""
    color: Color = ""


class PictureIn(Strict):
    """A picture of the instructions."""

    image: Picture
    caption: Annotated[Plain, Field(max_length=500)] = ""


class Example(Strict):
    """An item with its label, shown in the instructions or asked in the quiz."""

    text: Prose = ""
    image: Picture = ""
    label: Name
    criterion: Annotated[Plain, Field(max_length=200)] = ""
    why: Prose = ""


class CostsIn(Strict):
    """The costs of wrong decisions and of votes, in one currency."""

    errors: Annotated[list[list[Money]], Field(max_length=1000)] | None = None
    prices: Annotated[dict[Kind, Money], Field(min_length=1, max_length=10)] | None = None
    classifier: Money = 0.0
    budget: Money | None = None


class PlanIn(Strict):
    """The plan of the campaign; see `crowdpilot.hybrid.Plan`."""

    fusion: Name = "bayes"
    pilot: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    pilot_votes: Annotated[int, Field(ge=0, le=1000)] = 1
    explore: Share = 0.0
    gold: Share = 0.0
    per_worker: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    per_item: Annotated[int, Field(ge=1, le=10_000)] | None = None
    refit_every: Annotated[int, Field(ge=1, le=1_000_000)] = 50
    refit_growth: Annotated[float, Field(ge=0, le=10)] = 0.05
    online: bool = False
    seed: Annotated[int, Field(ge=0, le=2**31)] = 0


class ProlificIn(Strict):
    """A study on Prolific: its completion codes, what it pays, and how many places it has.

    The codes are those of the study, for who has done their share, failed the quiz, or came when the study
    was complete. Without the first, each worker gets a code of their own; without the others they are asked
    to return their submission.
    """

    study: Annotated[Plain, Field(max_length=64, pattern=r"^([0-9a-fA-F]{24})?$")] = ""
    code: Code = ""
    code_failed: Code = ""
    code_complete: Code = ""
    reward: Money | None = None  # for a submission, in the currency of the project
    places: Annotated[int, Field(ge=1, le=100_000)] | None = None
    signed: bool = False  # whether links have to be signed, with keys that are fetched from Prolific
    keys: Annotated[dict[str, Any], Field(max_length=10)] | None = None  # a JWKS to use instead of those


class MTurkIn(Strict):
    """A HIT on Mechanical Turk."""

    hits: Annotated[list[Name], Field(max_length=1000)] = []  # the only HITs that are accepted, if any
    sandbox: bool = True


class GuestsIn(Strict):
    """Who comes through a link for everybody.

    How many new guests there may be in an hour, in all and from one network address; and how many gold items
    each has to answer before their votes count (0: they count at once).
    """

    per_hour: Annotated[int, Field(ge=1, le=1_000_000)] = 600
    per_address: Annotated[int, Field(ge=1, le=1_000_000)] = 30
    checks: Annotated[int, Field(ge=0, le=100)] = 4


class RetentionIn(Strict):
    """How many days after a project is closed the personal data of its workers is erased; null: never.

    With `delete_project` the whole project is deleted then.
    """

    days: Annotated[int, Field(ge=0, le=36_500)] | None = None
    delete_project: bool = False


class NotifyIn(Strict):
    """Who gets an e-mail when something happens to the project; its webhook gets the same events."""

    emails: Annotated[list[Email], Field(max_length=20)] = []
    events: list[Event] = list(NOTIFIED_EVENTS)


class ProjectIn(Strict):
    """A project: question, classes, costs, policy, and the onboarding of workers."""

    name: Name
    classes: Annotated[list[Name], Field(min_length=2, max_length=1000)]
    class_details: Annotated[dict[Name, ClassDetails], Field(max_length=1000)] = {}
    criteria: Annotated[list[Criterion], Field(max_length=20)] = []
    question: Prose = ""
    instructions: Prose = ""
    pictures: Annotated[list[PictureIn], Field(max_length=20)] = []  # of the instructions
    examples: Annotated[list[Example], Field(max_length=50)] = []
    consent: Prose = ""
    quiz: Annotated[list[Example], Field(max_length=50)] = []
    quiz_pass: Annotated[int, Field(ge=0, le=50)] | None = None
    quiz_tries: Annotated[int, Field(ge=1, le=20)] = 2
    costs: CostsIn = CostsIn()
    policy: Annotated[Plain, Field(min_length=1, max_length=300)] = "value"
    plan: PlanIn = PlanIn()
    machine: Literal["none", "given", "tfidf", "embeddings"] = "none"
    batch: Annotated[int, Field(ge=1, le=100)] = 10
    lease: Annotated[float, Field(ge=1, le=7 * 86400)] = 900.0
    min_answers: Annotated[int, Field(ge=1, le=100_000)] | None = None  # before the code; else a batch
    seconds_per_answer: Annotated[float, Field(gt=0, le=86400)] | None = None  # as expected, until measured
    currency: Currency = ""  # workers see what they are paid if there is one
    language: Literal["", "en", "de", "fr", "es", "ar"] = ""  # of the worker pages; empty: the browser's
    markdown: bool = False  # whether texts of items are Markdown
    comments: bool = False  # whether workers may write a comment on an item
    flags: bool = False  # whether workers may flag an item
    guests: GuestsIn = GuestsIn()
    retention: RetentionIn = RetentionIn()
    webhook: Address = ""
    notify: NotifyIn = NotifyIn()
    prolific: ProlificIn | None = None
    mturk: MTurkIn | None = None

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        for example in (*self.examples, *self.quiz):
            if example.label not in self.classes:
                raise ValueError(f"the label {example.label!r} of an example is not one of the classes")
        self._check_class_details()
        if self.quiz_pass is not None and self.quiz_pass > len(self.quiz):
            raise ValueError(f"quiz_pass is {self.quiz_pass}, but the quiz has {len(self.quiz)} questions")
        spec = self.model_dump()
        capacity.check_description(spec)  # before anything large is made
        make_campaign(spec)
        return self

    def _check_class_details(self) -> None:
        if unknown := [name for name in self.class_details if name not in self.classes]:
            raise ValueError(f"the class details name {unknown[0]!r}, which is not one of the classes")
        keys = [details.key.casefold() for details in self.class_details.values() if details.key]
        for key in keys:
            if key in RESERVED_KEYS:
                raise ValueError(f"the key {key!r} of a class already has a meaning; choose another")
            if keys.count(key) > 1:
                raise ValueError(f"two classes have the key {key!r}; choose another for one of them")
