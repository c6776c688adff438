"""The glossary defines all names of the registries and all abbreviations of the pages."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from markdown.extensions.toc import slugify

from crowdpilot import metrics
from crowdpilot.aggregation import MODELS
from crowdpilot.calibration import MAPS
from crowdpilot.diagnosis import diagnose
from crowdpilot.diagnosis.identify import IDENTIFICATIONS
from crowdpilot.hybrid import FUSIONS, POLICIES
from crowdpilot.learning import METHODS, NETWORKS, SCORES
from crowdpilot.learning.data.targets import TARGETS
from crowdpilot.simulation import STRATEGIES, HammerSpammer
from docs.hooks.blocks import prose
from docs.hooks.generated import PART
from docs.hooks.glossary import Linker, entries, terms
from docs.hooks.tables import reference_pages

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "glossary.md").read_text()
ENTRIES = entries(TEXT)
TERMS = terms(TEXT)
GENERATED = {DOCS / "cli.md"}  # its placeholders of options are in capitals
PAGES = [DOCS.parent / "README.md", *sorted({*DOCS.rglob("*.md")} - GENERATED)]
WELL_KNOWN = frozenset({  # without an entry: computing, journals and conferences, products
    "API", "AWS", "BSD", "BY-NC-SA", "CC", "CPU", "CSV", "CUDA", "GB", "GDPR", "GiB", "GPU", "HTML", "HTTP",
    "IP", "IPv6", "ISO", "JSON", "KiB", "MB", "MiB", "NaN", "NDJSON", "OpenID", "PNG",
    "AAC", "FLAC", "GIF", "JPEG", "M4A", "MP3", "MP4", "OGG", "TOML", "WAV", "WebM", "WebP",
    "RFC", "SQL", "SSD", "TLS", "TSV", "URI", "URL", "UTC", "UTF-8", "UTF-16", "UTF-32",
    "AAAI", "AISTATS", "CVPR", "EMNLP", "ICCV", "ICLR", "ICML", "ICWS", "IJCAI", "JASA", "JDS", "JMLR",
    "JRSS", "KDD", "NAACL", "NeurIPS", "NIPS", "PNAS", "PVLDB", "SIGMOD", "TMLR", "WWW",
    "CrowdFlower", "fastText",
    "IPython", "JupyterLab", "VS",
    "GitHub", "PostgreSQL", "PyPI", "PyTorch", "SLURM", "SQLite", "iNaturalist", "irrCAC", "macOS",
})  # fmt: skip
MEASURES = importlib.import_module("crowdpilot.diagnosis.agreement").MEASURES


def flags() -> Iterable[str]:
    """The names of all flags of a diagnosis."""
    votes, truth = HammerSpammer(
        tasks=40, workers=6, classes=2, ratio=0.2, votes_per_task=4, seconds=9.0, drifting=0.2
    ).run()
    known = votes.with_gold(dict(enumerate(truth[:10].tolist())))
    return [*diagnose(known).flags, "fails trap"]


FAMILIES: dict[str, Iterable[str]] = {
    "strategies": MODELS,
    "methods": METHODS,
    "networks": NETWORKS,
    "scores of tasks": SCORES,
    "targets": TARGETS,
    "measures of agreement": [*MEASURES, "cohen_kappa"],
    "metrics": [name for name in metrics.__all__ if name.islower()],
    "policies": POLICIES,
    "fusions": FUSIONS,
    "calibration maps": MAPS,
    "flags": flags(),
    "identifications": IDENTIFICATIONS,
    "simulations": STRATEGIES,
}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_name_of_the_package_is_explained(family: str) -> None:
    assert list(FAMILIES[family])
    assert [name for name in FAMILIES[family] if name.lower() not in TERMS] == []


@pytest.mark.parametrize("term", ["feedback effort", "sHard", "WAUM", "expected loss", "ECE", "Dawid-Skene"])
def test_central_terms_have_entries_of_their_own(term: str) -> None:
    assert TERMS[term.lower()] == slugify(term, "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS.parent)))
def test_every_abbreviation_of_a_page_is_explained_or_well_known(page: Path) -> None:
    known = {*TERMS, *map(str.lower, WELL_KNOWN)}
    written = PART.sub(" ", page.read_text())  # lists made from the package cite papers
    assert sorted(word for word in abbreviations(written) if not is_known(word, known)) == []


def abbreviations(text: str) -> set[str]:
    """Words with a capital letter after their first letter in the prose of a page, without its links."""
    plain = re.sub(r"\]\([^)]*\)|https?://\S+|<[^>]+>|\{[^}]*\}", " ", prose(text))
    return {
        word
        for word in re.findall(r"(?<![\w@/.-])[^\W\d_](?:[\w-]*\w)?(?!\w|\.[a-z])", plain)
        if is_abbreviation(word)
    }


def is_abbreviation(word: str) -> bool:
    return any(letter.isupper() for part in word.split("-") for letter in part[1:])


def is_known(word: str, known: set[str]) -> bool:
    """Whether a word, its singular, or all parts of a compound are known."""
    parts = [part for part in word.split("-") if is_abbreviation(part)]
    spelled = (word.lower(), word.lower().removesuffix("s"))
    return any(name in known for name in spelled) or (
        parts != [word] and all(is_known(p, known) for p in parts)
    )


def test_abbreviations_are_found() -> None:
    found = abbreviations(
        "The ECE of `CODE` and sHard, CoNAL ([WAUM](AUM.md)); Bayes' Rule.\n```sh\nNOT\n```\n"
    )
    assert found == {"ECE", "sHard", "CoNAL", "WAUM"}


def test_entries_are_sorted_and_unique() -> None:
    names = [entry.term for entry in ENTRIES]
    assert names == sorted(names, key=str.lower)
    spelled = [name.lower() for entry in ENTRIES for name in (entry.term, *entry.also)]
    assert sorted(name for name in set(spelled) if spelled.count(name) > 1) == []
    assert len({entry.anchor for entry in ENTRIES}) == len(ENTRIES) > 100


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.term)
def test_an_entry_is_a_few_sentences_with_a_link_to_a_page(entry) -> None:
    assert 30 < len(entry.meaning) < 700
    assert entry.brief.endswith((".", "?"))
    assert linked_pages(entry.meaning), "it links to no page"


def linked_pages(text: str) -> list[str]:
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]


def anchors(page: str) -> set[str]:
    """The anchors of the headings of a page."""
    generated = reference_pages()
    text = generated[page] if page in generated else (DOCS / page).read_text()
    heads = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.MULTILINE)
    return {"", *(slugify(re.sub(r"[`*]|\]\([^)]*\)|\[", "", head), "-") for head in heads)}


def test_every_link_has_a_target() -> None:
    links = sorted({link.partition("#")[::2] for entry in ENTRIES for link in linked_pages(entry.meaning)})
    missing = [page for page, _ in links if page not in reference_pages() and not (DOCS / page).exists()]
    assert missing == []
    assert [f"{page}#{anchor}" for page, anchor in links if anchor not in anchors(page)] == []


def test_names_in_code_are_not_linked_in_prose() -> None:
    page = Linker(TEXT).link("<p>The value is fixed by a policy, at best.</p>", "glossary/")
    assert re.findall(r'href="([^"]+)"', page) == ["glossary/#policy"]


EXAMPLE = """# Glossary

## ECE

*Also:* expected calibration error

Mean distance between confidence and accuracy. More is on another page.

## vote

The label of a [worker](x.md).
"""


def test_terms_are_found_by_every_spelling() -> None:
    assert terms(EXAMPLE) == {"ece": "ece", "expected calibration error": "ece", "vote": "vote"}
    assert entries(EXAMPLE)[0].brief == "Mean distance between confidence and accuracy."


def test_the_first_use_of_a_term_in_prose_is_linked() -> None:
    page = "<h1>Votes</h1><p><code>vote</code> <a href='x'>vote</a> Two votes &amp; a vote &lt; ECE, ece.</p>"
    linked = Linker(EXAMPLE).link(page, "../glossary/")
    assert linked.count('class="term"') == 2
    assert ">votes</a> &amp; a vote &lt; " in linked
    brief = "Mean distance between confidence and accuracy."
    assert f'<a class="term" href="../glossary/#ece" title="{brief}">ECE</a>, ece.</p>' in linked
    assert "<h1>Votes</h1>" in linked
