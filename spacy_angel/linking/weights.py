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
    "other_number",
    "lost_number",
    "said_ending",
    "other_ending",
    "unsaid_ending",
    "same_case",
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
    "log_prob": 1.074,
    "sure_log_prob": 4.034,
    "cosine": 2.355,
    "lost_cosine": 1.704,
    "lost_edits": 1.52,
    "name": -0.567,
    "short_name": -1.342,
    "only_name": 0.085,
    "canonical": 0.529,
    "one_letter": 0.819,
    "two_letters": -0.16,
    "agrees": 0.515,
    "short_log_prob": -1.337,
    "short_agrees": 3.628,
    "other_number": -0.604,
    "lost_number": -0.366,
    "said_ending": 1.367,
    "other_ending": 1.889,
    "unsaid_ending": -1.341,
    "same_case": 1.402,
    "nothing": -2.392,
    "nothing_edits": -1.207,
    "nothing_cosine": 2.034,
    "nothing_name": 0.467,
    "nothing_short_name": 0.098,
    "nothing_short": 2.088,
    "nothing_lost": 5.377,
    "nothing_respelled": -0.37,
}

# Share of the links that are right where a mention is linked without the search, as the name of one
# concept: fitted by benchmarks/sparing.py, see docs/results.md.
EXACT_NAME_PROBABILITY = 0.96
