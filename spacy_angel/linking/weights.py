"""The evidence for a name by its parts, and the weight of each; `evidence.weigh` says what they
are."""

NAME_FEATURES = (
    "log_prob",
    "sure_log_prob",
    "cosine",
    "lost_cosine",
    "lost_edits",
    "name",
    "short_name",
    "only_name",
    "canonical",
    "one_letter",
    "two_letters",
    "agrees",
    "short_log_prob",
    "short_agrees",
)
NOTHING_FEATURES = (
    "nothing",
    "nothing_edits",
    "nothing_cosine",
    "nothing_name",
    "nothing_short_name",
    "nothing_short",
    "nothing_lost",
    "nothing_respelled",
)
FEATURES = (*NAME_FEATURES, *NOTHING_FEATURES)

# Fitted for `en_angel_mini`, see docs/results.md.
DEFAULT_WEIGHTS: dict[str, float] = {
    "log_prob": 1.043,
    "sure_log_prob": 3.738,
    "cosine": 2.475,
    "lost_cosine": 1.095,
    "lost_edits": 2.28,
    "name": -0.36,
    "short_name": -1.436,
    "only_name": 0.221,
    "canonical": 0.635,
    "one_letter": 1.004,
    "two_letters": -0.143,
    "agrees": 0.536,
    "short_log_prob": -1.139,
    "short_agrees": 3.688,
    "nothing": -2.08,
    "nothing_edits": -1.441,
    "nothing_cosine": 2.218,
    "nothing_name": 0.693,
    "nothing_short_name": 0.251,
    "nothing_short": 1.857,
    "nothing_lost": 5.167,
    "nothing_respelled": -0.339,
}

# Share of the links that are right where a mention is linked without the search, as the name of one
# concept: fitted by benchmarks/sparing.py, see docs/results.md.
EXACT_NAME_PROBABILITY = 0.96
