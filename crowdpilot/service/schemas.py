"""Schemas of requests: pydantic models that refuse whatever they do not describe."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from crowdpilot.service import capacity
from crowdpilot.service.project_campaign import make_campaign

Share = Annotated[float, Field(ge=0, le=1)]
Money = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]


def _check_encodable(text: str) -> str:
    if "\x00" in text:
        raise ValueError("the text holds a zero character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("the text holds half a character") from None
    return text


Plain = Annotated[str, AfterValidator(_check_encodable)]
Name = Annotated[Plain, Field(min_length=1, max_length=200)]
Kind = Annotated[Plain, Field(min_length=1, max_length=32)]
Prose = Annotated[Plain, Field(max_length=20_000)]
Address = Annotated[Plain, Field(max_length=2000, pattern=r"^(https?://[^\s]+)?$")]


class Strict(BaseModel):
    """A schema that takes the described fields and no other."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Criterion(Strict):
    """One of several questions about each item, which is included only if all are answered with yes."""

    name: Name
    question: Prose = ""


class Example(Strict):
    """An item with its label, shown in the instructions or asked in the quiz."""

    text: Prose = ""
    image: Address = ""
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
    """A study on Prolific."""

    study: Annotated[Plain, Field(max_length=64, pattern=r"^([0-9a-fA-F]{24})?$")] = ""
    code: Annotated[Plain, Field(max_length=64, pattern=r"^[A-Za-z0-9_-]*$")] = (
        ""  # theirs; if empty, one for each worker
    )
    keys: Annotated[dict[str, Any], Field(max_length=10)] | None = None  # JWKS, if the address is signed


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


class ProjectIn(Strict):
    """A project: question, classes, costs, policy, and the onboarding of workers."""

    name: Name
    classes: Annotated[list[Name], Field(min_length=2, max_length=1000)]
    criteria: Annotated[list[Criterion], Field(max_length=20)] = []
    question: Prose = ""
    instructions: Prose = ""
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
    guests: GuestsIn = GuestsIn()
    retention: RetentionIn = RetentionIn()
    webhook: Address = ""
    prolific: ProlificIn | None = None
    mturk: MTurkIn | None = None

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        for example in (*self.examples, *self.quiz):
            if example.label not in self.classes:
                raise ValueError(f"the label {example.label!r} of an example is not one of the classes")
        if self.quiz_pass is not None and self.quiz_pass > len(self.quiz):
            raise ValueError(f"quiz_pass is {self.quiz_pass}, but the quiz has {len(self.quiz)} questions")
        spec = self.model_dump()
        capacity.check_description(spec)  # before anything large is made
        make_campaign(spec)
        return self


class ItemIn(Strict):
    """An item: a text, an image, or both."""

    name: Annotated[Plain, Field(max_length=500)] = ""
    text: Annotated[Plain, Field(max_length=200_000)] = ""
    image: Address = ""
    machine: list[Share] | dict[Name, list[Share]] | None = None
    gold: Name | dict[Name, Name] | None = None


class ItemsIn(Strict):
    """Items to be classified."""

    items: Annotated[list[ItemIn], Field(min_length=1, max_length=200_000)]


class GoldIn(Strict):
    """Known classes of items, by the names of the items; with criteria a mapping for each."""

    gold: Annotated[dict[Name, Name | dict[Name, Name]], Field(min_length=1, max_length=200_000)]


class ItemNamesIn(Strict):
    """Names of items."""

    items: Annotated[list[Name], Field(min_length=1, max_length=200_000)]


class SessionIn(Strict):
    """An invitation, or the parameters that a platform adds to the address; consent and quiz answers."""

    project: Annotated[Plain, Field(pattern=r"^[0-9a-f]{12}$")]
    invite: Annotated[Plain, Field(max_length=2000)] = ""
    prolific: Annotated[dict[Name, Annotated[Plain, Field(max_length=4000)]], Field(max_length=10)] | None = (
        None
    )
    mturk: Annotated[dict[Name, Annotated[Plain, Field(max_length=2000)]], Field(max_length=10)] | None = None
    consent: bool = False
    quiz: Annotated[list[Name], Field(max_length=50)] = []


class VoteIn(Strict):
    """A worker's answer about an item that they hold a lease of; without a label they cannot tell."""

    item: Annotated[int, Field(ge=0, lt=2**63)]
    criterion: Annotated[int, Field(ge=0, le=20)] = 0
    label: Name | None
    seconds: Annotated[float, Field(ge=0, le=86400)] | None = None
    key: Annotated[Plain, Field(min_length=8, max_length=64)]


class ExternalVoteIn(Strict):
    """A vote that was collected elsewhere."""

    item: Name
    worker: Name
    label: Name
    criterion: Annotated[Plain, Field(max_length=200)] = ""
    kind: Kind | None = None


class ExternalVotesIn(Strict):
    """Votes that were collected elsewhere."""

    votes: Annotated[list[ExternalVoteIn], Field(min_length=1, max_length=100_000)]


class ErrorOut(BaseModel):
    """Why a request is refused, as problem+json (RFC 9457)."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
