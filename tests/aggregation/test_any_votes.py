"""Votes of any kind in every model, and results in the form in which the votes came."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import crowdpilot as cp
from crowdpilot import aggregation
from crowdpilot.aggregation import MODELS, DawidSkene, MajorityVoting, Wawa, aggregate
from crowdpilot.aggregation.classifier_probs import ClassifierAggregator
from crowdpilot.votes import Votes

TASKS, WORKERS = (30, 11, 12, 13, 14, 15), ("ann", "bob", "cy", "dee")
FRAME = pd.DataFrame([(t, w) for t in TASKS for w in WORKERS], columns=["task", "worker"]).assign(
    label=[0, 0, 1, 0, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 1]
)
RECORDS = FRAME.to_dict("records")
NAMED = {str(name): FRAME[name].tolist() for name in FRAME}
TEXT = FRAME.to_csv(index=False)
SOURCES: dict[str, Any] = {
    "pandas": FRAME,
    "pandas with other columns": FRAME.assign(comment="fine", id=range(len(FRAME))),
    "pandas with categories": FRAME.astype("category"),
    "pandas by task": FRAME.set_index("task"),
    "pandas by task and worker": FRAME.set_index(["task", "worker"]),
    "pandas in any order": FRAME.sample(frac=1, random_state=0),
    "polars": pl.DataFrame(NAMED),
    "lazy polars": pl.DataFrame(NAMED).lazy(),
    "Arrow": pl.DataFrame(NAMED).to_arrow(),
    "columns": NAMED,
    "records": RECORDS,
    "triples": list(FRAME.itertuples(index=False, name=None)),
    "nested": {task: dict(zip(rows.worker, rows.label, strict=True)) for task, rows in FRAME.groupby("task")},
    "text": io.StringIO(TEXT),
    "bytes": io.BytesIO(TEXT.encode()),
}


def model_of(name: str) -> Any:
    """A model, with what it cannot do without."""
    model = MODELS[name]
    return model(probs=np.full((6, 2), 0.5)) if issubclass(model, ClassifierAggregator) else model()


@pytest.fixture(autouse=True)
def not_converged() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", aggregation.NotConverged)
        yield


@pytest.mark.parametrize("name", [name for name in MODELS if name != "gold_majority"])
def test_a_frame_gives_a_series_and_a_frame_by_task(name: str) -> None:
    model = model_of(name)
    labels, probs, result = model.fit_predict(FRAME), model.fit_predict_proba(FRAME), model.fit(FRAME)
    assert labels.to_dict() == dict(zip(result.votes.tasks, result.labels, strict=True))
    assert labels.index.tolist() == probs.index.tolist() == [30, 11, 12, 13, 14, 15]
    np.testing.assert_allclose(probs.to_numpy(), result.probs)
    assert probs.columns.tolist() == [0, 1]


@pytest.mark.parametrize("name", [name for name in MODELS if name != "gold_majority"])
def test_polars_gives_polars(name: str) -> None:
    frame = pl.DataFrame(NAMED)
    labels, probs = (call(frame) for call in (model_of(name).fit_predict, model_of(name).fit_predict_proba))
    assert labels.columns == ["task", "label"]
    assert probs.columns == ["task", "0", "1"]
    assert labels["label"].to_list() == model_of(name).fit(FRAME).labels.tolist()


@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_confusion_matrices_and_tables(name: str) -> None:
    result = model_of(name).fit(FRAME, gold={30: 0, 11: 1})
    matrix = result.confusion("bob")
    assert (matrix.index.name, matrix.columns.name) == ("true", "said")
    np.testing.assert_allclose(matrix.sum(axis=1), 1)
    assert result.workers["worker"].tolist() == ["ann", "bob", "cy", "dee"]
    assert result.tasks["label"].tolist() == result.labels.tolist()
    assert [*result.to_pandas(probs=True)][-2:] == result.to_polars(probs=True).columns[-2:] == ["p_0", "p_1"]


@pytest.mark.parametrize("kind", SOURCES)
def test_votes_of_any_kind_give_the_same_labels(kind: str) -> None:
    result = Wawa().fit(SOURCES[kind])
    labels = dict(zip(map(str, result.votes.tasks), map(int, result.labels), strict=True))
    assert labels == {str(task): label for task, label in Wawa().fit_predict(FRAME).items()}


def test_a_file_is_read_and_gives_a_series(tmp_path: Path) -> None:
    file = tmp_path / "votes.csv"
    file.write_text(TEXT)
    with file.open() as stream:
        for source in (str(file), file, stream):
            pd.testing.assert_series_equal(Wawa().fit_predict(source), Wawa().fit_predict(FRAME))


def test_votes_and_arrays_give_arrays_in_the_order_of_tasks() -> None:
    array = np.array([[1, 1, 0, 1], [0, 0, -1, 0]])
    assert MajorityVoting().fit_predict(array).tolist() == [1, 0]
    np.testing.assert_allclose(MajorityVoting().fit_predict_proba(cp.read(array)), [[0.25, 0.75], [1, 0]])


def test_tables_come_from_the_library_of_the_votes() -> None:
    of_polars = aggregate(pl.DataFrame(NAMED))
    assert isinstance(of_polars.tasks, pl.DataFrame)
    assert isinstance(of_polars.workers, pl.DataFrame)
    assert of_polars.confusion("ann").columns == ["true", "0", "1"]
    assert isinstance(aggregate(cp.read(FRAME)).tasks, pd.DataFrame)


def test_every_task_of_the_input_has_a_label_also_without_a_vote() -> None:
    frame = pd.DataFrame({"task": ["a", "b"], "worker": ["x", "x"], "label": ["cat", None]})
    assert MajorityVoting().fit_predict(frame).index.tolist() == ["a", "b"]
    assert MajorityVoting().fit_predict(frame.dropna()).to_dict() == {"a": "cat"}


@pytest.mark.parametrize(
    "gold",
    [
        {30: 1, 11: 0},
        pd.Series({30: 1, 11: 0}),
        pd.DataFrame({"task": [30, 11], "truth": [1, 0]}),
        pl.DataFrame({"task": [30, 11], "label": [1, 0]}),
    ],
    ids=["dict", "Series", "pandas", "polars"],
)
def test_gold_comes_in_any_form(gold: Any) -> None:
    labels = DawidSkene().fit_predict(FRAME, gold)
    assert labels[[30, 11]].tolist() == [1, 0]
    pd.testing.assert_series_equal(
        labels, pd.Series(aggregate(FRAME, "ds", gold=gold).labels, labels.index), check_names=False
    )


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        ({"emux": 1}, "the gold labels are about no task of the votes, such as 'emux'"),
        ({30: "fish"}, "gold label 'fish' of task 30 is not a class"),
        ([1, 0], "gold: "),
    ],
)
def test_gold_of_something_else_is_refused(gold: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        aggregate(FRAME, gold=gold)


def test_confusion_of_an_unknown_worker_names_a_near_one() -> None:
    with pytest.raises(ValueError, match="no worker 'anne'; did you mean ann"):
        aggregate(FRAME).confusion("anne")
    with pytest.raises(ValueError, match="no worker 'zoltan'; workers are ann, bob, cy, dee"):
        aggregate(FRAME).confusion("zoltan")


def test_confusion_without_matrices_is_shrunk_to_the_crowd() -> None:
    votes = Votes.of(
        [t for t in range(100) for _ in range(5)] + [0],
        ["a", "b", "c", "d", "e"] * 100 + ["new"],
        ["x"] * 250 + ["y"] * 251,
    )
    matrix = aggregate(votes, "mv").confusion("new")
    assert 0.5 < matrix.loc["x", "x"] < 1


@pytest.mark.parametrize(
    "name", ["MajorityVote", "OneCoinDawidSkene", "GoldMajorityVote", "ZeroBasedSkill", "CATD"]
)
def test_names_of_crowd_kit_are_names_of_classes(name: str) -> None:
    assert getattr(aggregation, name) is type(aggregation.parse_strategy(name))


def test_what_is_not_there_is_named_in_a_sentence() -> None:
    with pytest.raises(ImportError, match="BradleyTerry'; Crowdpilot aggregates classes only"):
        from crowdpilot.aggregation import BradleyTerry  # noqa: F401
    with pytest.raises(ImportError, match="did you mean DawidSkene"):
        from crowdpilot.aggregation import DavidSkene  # noqa: F401
    with pytest.raises(AttributeError, match="did you mean aggregate"):
        _ = aggregation.agregate
    with pytest.raises(TypeError, match="DawidSkene has no setting 'n_iter'; did you mean max_iter"):
        aggregation.DawidSkene(n_iter=10)
    with pytest.raises(TypeError, match=r"give the votes to MajorityVoting\(\).fit\(votes\)"):
        aggregation.MajorityVoting(FRAME)
    with pytest.raises(TypeError, match=r"give the votes to DawidSkene\(\).fit\(votes\)"):
        aggregation.DawidSkene({"a": {"x": 0}}, n_classes=2)


@pytest.mark.parametrize(
    ("name", "here"),
    [("labels_", "labels"), ("probas_", "probs"), ("to_csv", r"tasks.to_csv\(path\)"), ("lables", "labels")],
)
def test_a_result_says_what_it_calls_things(name: str, here: str) -> None:
    with pytest.raises(AttributeError, match=f"no '{name}'; (use result.|did you mean ){here}"):
        getattr(aggregate(FRAME, "mv"), name)


def test_a_class_is_a_strategy_and_other_things_are_not() -> None:
    assert str(aggregate(FRAME, DawidSkene).model) == "dawid_skene"
    assert str(aggregate(FRAME, "majority").model) == "majority_voting"
    with pytest.raises(ValueError, match="strategy is of type int, expected a name or a model"):
        aggregate(FRAME, 3)  # type: ignore[arg-type]


def test_a_warning_points_at_the_line_of_the_caller() -> None:
    with pytest.warns(cp.ReadingWarning, match="spelling") as caught:
        aggregate({"task": ["a", "b"], "worker": ["x", "y"], "label": ["Cat", "cat"]}, "mv")
    assert caught[0].filename == __file__


def test_every_verb_takes_a_frame(tmp_path: Path) -> None:
    assert cp.diagnose(FRAME, "mv").votes.tasks.tolist() == cp.diagnose(aggregate(FRAME)).votes.tasks.tolist()
    assert cp.report(FRAME, tmp_path / "r.html", truth=pd.Series({30: 0, 11: 1})).exists()
    assert len(cp.suggest_gold(FRAME, 3)) == 3
    assert len(cp.audit(FRAME, "fp=1,fn=5").draw(2)) == 2
    assert cp.replay(FRAME, pd.Series({30: 0, 11: 1}), "fp=1,fn=5,crowd=.05").votes[-1] > 0
    cp.write(FRAME, tmp_path / "votes.parquet")
    cp.write(aggregate(FRAME), tmp_path / "labels.csv")
    assert (
        cp.aggregate(tmp_path / "votes.parquet", "mv").labels.tolist()
        == aggregate(FRAME, "mv").labels.tolist()
    )
    assert (tmp_path / "labels.csv").read_text().startswith("task,label,confidence,votes\n30,")


def test_agreement_of_a_frame() -> None:
    from crowdpilot.diagnosis import cohen_kappa, krippendorff_alpha, measure_agreement

    assert krippendorff_alpha(FRAME) == krippendorff_alpha(cp.read(FRAME))
    assert len(cohen_kappa(FRAME, min_shared=1).worker) == 6
    assert measure_agreement(RECORDS, samples=10)[0].tasks == 6


def test_gold_of_unknown_tasks_among_known_ones_is_named() -> None:
    with pytest.warns(
        cp.ReadingWarning, match="1 of 2 gold labels are about no task of the votes, such as 'emux'"
    ):
        assert DawidSkene().fit_predict(FRAME, {30: 1, "emux": 0})[30] == 1


def test_a_class_called_task_is_refused_by_polars_alone() -> None:
    votes = {"task": [1, 1, 2], "worker": ["x", "y", "x"], "label": ["task", "job", "job"]}
    assert [*MajorityVoting().fit_predict_proba(votes)] == ["job", "task"]
    with pytest.raises(ValueError, match="two columns 'task'; rename that class"):
        MajorityVoting().fit_predict_proba(pl.DataFrame(votes))


@pytest.mark.parametrize("path", ["report.pdf", io.StringIO()])
def test_a_report_is_a_page(path: Any) -> None:
    with pytest.raises(ValueError, match="the report is one page of HTML"):
        cp.report(FRAME, path)


def test_models_and_diagnoses_say_what_they_have() -> None:
    with pytest.raises(AttributeError, match=r"Auto has no 'predict'; use model.fit_predict\(votes\)"):
        cp.Auto().predict(FRAME)  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"Diagnosis has no 'spammers'; use diagnosis.workers"):
        _ = cp.diagnose(FRAME).spammers  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="forecast takes a Campaign"):
        cp.forecast(FRAME)  # type: ignore[arg-type]


def test_confusion_matrices_that_are_too_large_are_refused() -> None:
    names = np.arange(600)
    votes = Votes.of(names, names, names)
    with pytest.raises(
        ValueError, match="the confusion matrices of 600 workers and 600 classes need too much"
    ):
        aggregate(votes, "mv").confusion(0)
