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
)
NOTHING_FEATURES = (
    "nothing",
    "nothing_edits",
    "nothing_cosine",
    "nothing_name",
    "nothing_short_name",
    "nothing_short",
    "nothing_lost",
)
FEATURES = (*NAME_FEATURES, *NOTHING_FEATURES)

# Fitted for `en_angel_mini`, see docs/results.md.
DEFAULT_WEIGHTS: dict[str, float] = {
    "log_prob": 0.818,
    "sure_log_prob": 2.981,
    "cosine": 1.127,
    "lost_cosine": 3.644,
    "lost_edits": 2.457,
    "name": 2.007,
    "short_name": -0.687,
    "only_name": 0.053,
    "canonical": 1.098,
    "one_letter": 3.263,
    "two_letters": 2.05,
    "agrees": 0.922,
    "nothing": -3.545,
    "nothing_edits": -1.595,
    "nothing_cosine": 3.584,
    "nothing_name": 1.236,
    "nothing_short_name": 0.145,
    "nothing_short": 0.033,
    "nothing_lost": 6.297,
}

# Share of the links that are right where a mention is linked without the search, as the name of one
# concept: fitted by benchmarks/sparing.py, see docs/results.md.
EXACT_NAME_PROBABILITY = 0.96
