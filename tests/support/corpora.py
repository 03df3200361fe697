"""Documents that must survive a round trip in every format that stores whole documents."""

from hypothesis import strategies as st

from spacy_angel.corpora.documents import CorpusDocument, GoldMention

# A composite with its parts, a plus between identifiers, none at all, one without vocabulary, a
# mention over a line end and behind an emoji, two of one place, one without a label.
RICH = CorpusDocument(
    "notes.txt:3",
    "😀 Ocular and auditory\ntoxicity. Fever in a 𝛽-thalassaemia line, zeal.",
    (
        GoldMention(
            2,
            30,
            "Ocular and auditory\ntoxicity",
            "T116,T123",
            "MESH:D014786|MESH:D006311",
            ("Ocular toxicity", "auditory toxicity"),
        ),
        GoldMention(32, 37, "Fever", "Disease", "MESH:D005334+OMIM:1"),
        GoldMention(32, 37, "Fever", "Cell line", "3767", read_as="pyrexia"),
        GoldMention(43, 57, "𝛽-thalassaemia", "", "HGVS:c.1+1G>C"),
        GoldMention(64, 68, "zeal", "MENTION", ""),
    ),
    title_end=31,
)


def plain(document: CorpusDocument) -> CorpusDocument:
    """Return the part of a document that annotation tools preserve."""
    mentions = (
        GoldMention(m.start, m.end, m.text, m.label.replace("MENTION", ""), m.concept_ids)
        for m in document.mentions
    )
    return CorpusDocument(document.doc_id, document.text, tuple(mentions), document.title_end)


_LABELS = st.sampled_from(["Disease", "", "MENTION", "T116,T123", "Cell line", "Cell_line", "é|<"])
_IDS = st.sampled_from(["", "MESH:D1", "MESH:D1|OMIM:2", "MESH:D1+MESH:D2|UMLS:C3", "3767"])
_WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=8)


@st.composite
def documents(draw: st.DrawFn, alphabet: st.SearchStrategy[str] | None = None) -> CorpusDocument:
    """Draw a document with mentions that begin and end with a letter."""
    text = draw(st.text(alphabet or st.characters(codec="utf-8"), min_size=1, max_size=40))
    places = [place for place, letter in enumerate(text) if not letter.isspace()]
    place = st.sampled_from(places) if places else st.nothing()
    mentions = []
    for one, other in draw(st.lists(st.tuples(place, place), max_size=4 if places else 0)):
        start, end = min(one, other), max(one, other) + 1
        mentions.append(
            GoldMention(
                start,
                end,
                text[start:end],
                draw(_LABELS),
                draw(_IDS),
                tuple(draw(st.lists(_WORDS, max_size=2))),
                draw(_WORDS),
            )
        )
    return CorpusDocument(
        draw(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1)),
        text,
        tuple(mentions),
        draw(st.none() | st.integers(0, len(text))),
    )
