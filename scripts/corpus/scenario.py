"""What the annotators of the corpus look at and answer: texts that are hard to write, and their votes."""

from __future__ import annotations

TEXTS = (
    "The parcel came late, but the shop was friendly.",
    'She said "never again", and she meant it.',
    "First line\nsecond line, with a comma",
    "Grüße aus Köln: schön, günstig; 日本語も大丈夫 🙂",
    "12.5; 7,5; n/a",
    "= not a formula",
)
CATEGORIES = ("news", "sport", "news", "travel", "sport", "news")  # of the data, no answers
SENTIMENTS = ("positive", "negative", "neutral")
TOPICS = ("service", "price")
ANNOTATORS = ("anna", "ben", "carla")
PASSWORD = "correct-horse"

# By task and annotator; None is no vote.
SENTIMENT_VOTES = (
    ("positive", "positive", "neutral"),
    ("negative", "negative", "negative"),
    ("neutral", None, "positive"),
    ("positive", "positive", "positive"),
    ("neutral", "negative", "neutral"),
    ("positive", "neutral", None),
)
TOPIC_VOTES = (
    ("service", "service", "service"),
    ("service", "price", "service"),
    ("price", None, "service"),
    ("price", "price", "price"),
    ("price", "price", "service"),
    ("service", "price", None),
)
