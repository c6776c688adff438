"""Truth inference: the benchmark collection of Zheng et al., votes and truth without content."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from crowdpilot.datasets.data import Data, Part
from crowdpilot.datasets.registry import Counts, Dataset
from crowdpilot.datasets.source_files import on_github, parse_manifest, read_rows, to_int, votes_dataset
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
    name: str, description: str, counts: Counts, paper: str, folder: str, truth_folder: str | None = None
) -> Dataset:
    paths = f"{folder}/label.csv", f"{truth_folder or folder}/truth.csv"
    files = [on_github(*REPOSITORY, f"data/{path}", *MANIFEST[path]) for path in paths]
    return votes_dataset(
        name, description, counts, paper, repository=REPOSITORY[0], licence=LICENCE, make=make, files=files
    )


MANIFEST = parse_manifest("""
e9362c5b1af0dbace899acf1dd8c597dbdf25350285776bea0cf5255bc7bdfa3 32556 SpectralMethodsMeetEM/bluebird/label.csv
6ee30f25a19156cbb2741a8990ccae3bc1d0b60f17c3d560936d442a630d83e8 549 SpectralMethodsMeetEM/bluebird/truth.csv
c240c0efc442e4936b35f28424d66fb04e687c0f29b254af94c26e15a71aa820 70135 crowd_truth_inference/s4_Dog data/label.csv
b299494a7aba3cf5abcd3b0e002f6e899f3e1f1d864a26703325db355555cb76 4743 SpectralMethodsMeetEM/dog/truth.csv
2ad788bb36cf9206c496ffdf5e4dec466a1de420bc0c403404e9d3367024ff66 68738 SpectralMethodsMeetEM/rte/label.csv
c30bcc6dcdfd703e6e435c24ac7e2da56d85e687be398c365d2b2656c8e7f3cb 4701 SpectralMethodsMeetEM/rte/truth.csv
8bfc1d6036ab5b9e489755db7ea89be80a1ec0fe523527cf7966cb52f662696b 958855 SpectralMethodsMeetEM/trec/label.csv
e66a5ae31d542fcf1dc929d568d2f9489245fe201e48ff322b7de1f19f9e5dd6 16844 SpectralMethodsMeetEM/trec/truth.csv
44b1df451bab3752540643eb13d0701f1c14d6bd1068a04703691533c8f61cea 177298 crowd_truth_inference/d_sentiment/label.csv
ea4d2bfe7a660efaabb6dcb07b8e9dd53d5c9bd5b271895270fa4b9f6946217c 5901 crowd_truth_inference/d_sentiment/truth.csv
0577f8e46cbec9901dd7b33ec3626f95cc70f90c54c86f9df4a02d7a841cd8ca 1069582 crowd_truth_inference/s4_Relevance/label.csv
32d8553b523a811a6fdb90051c7bc87e6065bae4471da6e613f9a5f3fbed2709 33286 crowd_truth_inference/s4_Relevance/truth.csv
d72988724f7cdd628ce21fa1aaabecc4d03aef21bf59644d9e4033b774ac9a32 1014087 crowd_truth_inference/s5_AdultContent/label.csv
1c52c5d528d16e031360d87ce384a80611bf23dedd5c7cfddf2c8ffc058772cb 2307 crowd_truth_inference/s5_AdultContent/truth.csv
- 255248 crowd_truth_inference/d_jn-product/label.csv
- 57106 crowd_truth_inference/d_jn-product/truth.csv
""")  # noqa: E501
DATASETS = (
    _dataset(
        "bluebirds", "Is the bird an indigo bunting or a blue grosbeak? Every worker judged every image.",
        Counts(108, 39, 4212, 2, 108), "Welinder et al., NIPS 2010",
        "SpectralMethodsMeetEM/bluebird",
    ),
    _dataset(
        "dog", "Which of four breeds is the dog of an ImageNet image? Ten workers each.",
        Counts(807, 109, 8070, 4, 807), "Zhou et al., NIPS 2012",
        "crowd_truth_inference/s4_Dog data", truth_folder="SpectralMethodsMeetEM/dog",
    ),
    _dataset(
        "rte", "Does one sentence follow from another? Ten workers each.",
        Counts(800, 164, 8000, 2, 800), "Snow et al., EMNLP 2008",
        "SpectralMethodsMeetEM/rte",
    ),
    _dataset(
        "trec", "Is a page relevant to a topic? The crowdsourcing track of TREC 2011, in two classes.",
        Counts(19033, 762, 88385, 2, 2275), "Zhang et al., NIPS 2014",
        "SpectralMethodsMeetEM/trec",
    ),
    _dataset(
        "d_sentiment", "Is a tweet about a company positive? Twenty workers each.",
        Counts(1000, 85, 20000, 2, 1000), "Zheng et al., VLDB 2017",
        "crowd_truth_inference/d_sentiment",
    ),
    _dataset(
        "s4_relevance", "How relevant is a page to a topic, in four grades? TREC 2010.",
        Counts(20232, 766, 98453, 4, 4460), "Buckley et al., TREC 2010; Zheng et al., VLDB 2017",
        "crowd_truth_inference/s4_Relevance",
    ),
    _dataset(
        "s5_adult", "How adult is the content of a web page, in four grades?",
        Counts(11040, 825, 92721, 4, 333), "Ipeirotis et al., HCOMP 2010; Zheng et al., VLDB 2017",
        "crowd_truth_inference/s5_AdultContent",
    ),
    _dataset(
        "jn_product", "Do two descriptions name the same product? Three workers each, few matches.",
        Counts(8315, 176, 24945, 2, 8315), "Wang et al., VLDB 2012; Zheng et al., VLDB 2017",
        "crowd_truth_inference/d_jn-product",
    ),
)  # fmt: skip
