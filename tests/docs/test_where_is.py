"""Forty questions of the form "which file holds ...?", for a reader who sees nothing but the tree.

A reader who knows the field but not the code should find at least 36 of them at the first guess. Ask one after
modules have been renamed; this test only keeps the answers true.
"""
# ruff: noqa: E501 - a question stands on one line

from __future__ import annotations

import pytest

from docs.hooks.code_map import PACKAGE

ANSWERS = {
    "Which file decides which file format a given file has?": "io/detect.py",
    "Which file knows that `annotator` or `rater` are other names of the worker column?": "io/inference/column_names.py",
    "Where is a file written so that it is never half-written?": "io/atomic_write.py",
    "Where are exports of Toloka read?": "io/formats/toloka.py",
    "Where does the loop alternate between E-step and M-step?": "aggregation/em/loop.py",
    "Where is EM made faster by extrapolation?": "aggregation/em/squarem.py",
    "Where are the compiled loops over votes?": "aggregation/em/numba_kernels.py",
    "Where is the default strategy that averages models by held-out votes?": "aggregation/auto.py",
    "Where does a task's difficulty and a worker's ability enter one logistic model?": "aggregation/models/glad.py",
    "Where do old votes of a stream lose weight?": "aggregation/online/forgetting.py",
    "Where is the class that takes votes one by one and gives labels at any moment?": "aggregation/online/stream.py",
    "Where is the name `dawid_skene[smoothing=.5]` turned into a model?": "aggregation/registry.py",
    "Where are posteriors stored for only the classes that somebody voted for?": "aggregation/sparse/posterior.py",
    "Where is temperature scaling?": "calibration/maps/temperature.py",
    "Where is a calibration map fitted without true labels?": "calibration/from_votes.py",
    "Where are a classifier's probabilities and the votes combined into one posterior with fitted weights?": "calibration/fusion.py",
    "Where is Krippendorff's alpha computed?": "diagnosis/agreement.py",
    "Where are workers found who copy from each other?": "diagnosis/collusion.py",
    "Where is the number of falsely flagged workers controlled?": "diagnosis/false_discovery_rate.py",
    "Where is the expected calibration error computed?": "metrics/calibration_error.py",
    "Where is the training loop of networks?": "learning/training/loop.py",
    "Where are the margins (areas under the margin) that find ambiguous tasks, weighted by workers?": "learning/pruning/scores/waum.py",
    "Where are votes predicted for tasks nobody voted on, to be trained on?": "learning/self_training/pseudo_votes.py",
    "Where is the estimator with fit and predict_proba for crowds?": "learning/classifier.py",
    "Where is a trained classifier written to disk?": "learning/model_file.py",
    "Where is the price of a vote and the error matrix defined?": "hybrid/costs.py",
    "Where is it computed how much the expected loss falls with n more votes?": "hybrid/value/vote_value.py",
    "Where is the exact optimal stopping solved?": "hybrid/value/dynamic_program.py",
    "Where is the money of a campaign counted: spent, reserved, left?": "hybrid/campaign/ledger.py",
    "Where is the confidence sequence by betting?": "hybrid/audit/betting.py",
    "Where is a policy run on recorded votes?": "hybrid/replay/run.py",
    "Where is the in-memory campaign of a service process that follows the database?": "service/labelling/replica.py",
    "Where are votes that arrive together committed in one transaction?": "service/labelling/vote_writer.py",
    "Where are consent and quiz of a new worker handled?": "service/labelling/onboarding.py",
    "Where are the tables of the database declared?": "service/store/tables/project_tables.py",
    "Where is a message sent to a requester's URL, with retries?": "service/jobs/webhook_sender.py",
    "Where are security headers added to every response?": "service/http/middleware.py",
    "Where do workers from Prolific come in?": "service/platforms/prolific/arrival.py",
    "Where does the GPU kernel of the E-step stand?": "scale/gpu/triton_kernel.py",
    "Where is the HTML report put together?": "reporting/html_report.py",
}


@pytest.mark.parametrize(("question", "file"), ANSWERS.items())
def test_the_answer_is_a_file(question: str, file: str) -> None:
    assert question.endswith("?")
    assert (PACKAGE / file).is_file()


def test_there_are_forty_questions() -> None:
    assert len(ANSWERS) == 40
