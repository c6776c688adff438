"""The collection that methods of truth inference are compared on: votes and truth, no content."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from crowdpilot.datasets.data import Data, Part
from crowdpilot.datasets.registry import Counts, Dataset
from crowdpilot.datasets.source_files import on_github, read_rows, to_int
from crowdpilot.votes import Votes

REPOSITORY = "yuan-li/truth-inference-at-scale", "ff6d32971fb3ca17e2f0c784a126d8b26495dbce"
LICENCE = "not stated (collection: MIT)"


def make(files: Mapping[str, Path]) -> Data:
    """From `label.csv` (item, worker, label) and `truth.csv` (item, truth)."""
    task, worker, label = (to_int(column) for column in zip(*_rows(files["label.csv"], 3), strict=True))
    votes = Votes.of(task, worker, label, repeats="all")
    items, truth = (to_int(column) for column in zip(*_rows(files["truth.csv"], 2), strict=True))
    return Data(Part(votes.tasks, votes, dict(zip(items, truth, strict=True))))


def _rows(path: Path, cells: int) -> list[list[str]]:
    header, *rows = read_rows(path, cells)
    if header[0] != "item" or not rows:
        raise ValueError(
            f"{path.name}: it begins with {','.join(header)}, expected item and what is said of it"
        )
    return rows


def _dataset(
    name: str,
    description: str,
    counts: Counts,
    paper: str,
    labels: tuple[str, int, str | None],
    truth: tuple[str, int, str | None],
) -> Dataset:
    """A set by the folder, size and sha256 of its two files."""
    return Dataset(
        name=name,
        description=description,
        counts=counts,
        kind="votes",
        licence=LICENCE,
        source=f"{paper}, as collected in https://github.com/{REPOSITORY[0]}",
        make=make,
        files=tuple(
            on_github(*REPOSITORY, f"data/{folder}/{file}", size, sha256)
            for file, (folder, size, sha256) in (("label.csv", labels), ("truth.csv", truth))
        ),
    )


SPECTRAL, ZHENG = "SpectralMethodsMeetEM", "crowd_truth_inference"
RELEVANCE, ADULT = f"{ZHENG}/s4_Relevance", f"{ZHENG}/s5_AdultContent"
DATASETS = (
    _dataset(
        "bluebirds", "Is the bird an indigo bunting or a blue grosbeak? Every worker judged every image.",
        Counts(108, 39, 4212, 2, 108), "Welinder et al., NIPS 2010",
        (f"{SPECTRAL}/bluebird", 32556, "e9362c5b1af0dbace899acf1dd8c597dbdf25350285776bea0cf5255bc7bdfa3"),
        (f"{SPECTRAL}/bluebird", 549, "6ee30f25a19156cbb2741a8990ccae3bc1d0b60f17c3d560936d442a630d83e8"),
    ),
    _dataset(
        "dog", "Which of four breeds is the dog of an ImageNet image? Ten workers each.",
        Counts(807, 109, 8070, 4, 807), "Zhou et al., NIPS 2012",
        (f"{ZHENG}/s4_Dog data", 70135, "c240c0efc442e4936b35f28424d66fb04e687c0f29b254af94c26e15a71aa820"),
        (f"{SPECTRAL}/dog", 4743, "b299494a7aba3cf5abcd3b0e002f6e899f3e1f1d864a26703325db355555cb76"),
    ),
    _dataset(
        "rte", "Does one sentence follow from another? Ten workers each.",
        Counts(800, 164, 8000, 2, 800), "Snow et al., EMNLP 2008",
        (f"{SPECTRAL}/rte", 68738, "2ad788bb36cf9206c496ffdf5e4dec466a1de420bc0c403404e9d3367024ff66"),
        (f"{SPECTRAL}/rte", 4701, "c30bcc6dcdfd703e6e435c24ac7e2da56d85e687be398c365d2b2656c8e7f3cb"),
    ),
    _dataset(
        "trec", "Is a page relevant to a topic? The crowdsourcing track of TREC 2011, in two classes.",
        Counts(19033, 762, 88385, 2, 2275), "Zhang et al., NIPS 2014",
        (f"{SPECTRAL}/trec", 958855, "8bfc1d6036ab5b9e489755db7ea89be80a1ec0fe523527cf7966cb52f662696b"),
        (f"{SPECTRAL}/trec", 16844, "e66a5ae31d542fcf1dc929d568d2f9489245fe201e48ff322b7de1f19f9e5dd6"),
    ),
    _dataset(
        "d_sentiment", "Is a tweet about a company positive? Twenty workers each.",
        Counts(1000, 85, 20000, 2, 1000), "Zheng et al., VLDB 2017",
        (f"{ZHENG}/d_sentiment", 177298, "44b1df451bab3752540643eb13d0701f1c14d6bd1068a04703691533c8f61cea"),
        (f"{ZHENG}/d_sentiment", 5901, "ea4d2bfe7a660efaabb6dcb07b8e9dd53d5c9bd5b271895270fa4b9f6946217c"),
    ),
    _dataset(
        "s4_relevance", "How relevant is a page to a topic, in four grades? TREC 2010.",
        Counts(20232, 766, 98453, 4, 4460), "Buckley et al., TREC 2010; Zheng et al., VLDB 2017",
        (RELEVANCE, 1069582, "0577f8e46cbec9901dd7b33ec3626f95cc70f90c54c86f9df4a02d7a841cd8ca"),
        (RELEVANCE, 33286, "32d8553b523a811a6fdb90051c7bc87e6065bae4471da6e613f9a5f3fbed2709"),
    ),
    _dataset(
        "s5_adult", "How adult is the content of a web page, in four grades?",
        Counts(11040, 825, 92721, 4, 333), "Ipeirotis et al., HCOMP 2010; Zheng et al., VLDB 2017",
        (ADULT, 1014087, "d72988724f7cdd628ce21fa1aaabecc4d03aef21bf59644d9e4033b774ac9a32"),
        (ADULT, 2307, "1c52c5d528d16e031360d87ce384a80611bf23dedd5c7cfddf2c8ffc058772cb"),
    ),
    _dataset(
        "jn_product", "Do two descriptions name the same product? Three workers each, few matches.",
        Counts(8315, 176, 24945, 2, 8315), "Wang et al., VLDB 2012; Zheng et al., VLDB 2017",
        (f"{ZHENG}/d_jn-product", 255248, None),
        (f"{ZHENG}/d_jn-product", 57106, None),
    ),
)  # fmt: skip
