"""PubMed's baseline and update files: of each article the latest version, unless it was deleted."""

from collections.abc import Sequence

from ..corpora.documents import CorpusDocument, CorpusReport

# PubMed's identifiers have up to eight digits.
_MAX_DIGITS = 9


class SeenArticles:
    """PMIDs of the files that were read so far, the newest file first: a byte each, so that those
    of all 38 million abstracts take 45 MB."""

    def __init__(self) -> None:
        self._seen = bytearray()

    def __contains__(self, pmid: str) -> bool:
        number = self._number(pmid)
        return number < len(self._seen) and bool(self._seen[number])

    def add(self, pmid: str) -> None:
        """pmid (str): from now on in the set; only numbers are."""
        if number := self._number(pmid):
            self._seen.extend(bytes(max(number + 1 - len(self._seen), 0)))
            self._seen[number] = 1

    def latest(
        self, documents: Sequence[CorpusDocument], report: CorpusReport
    ) -> list[CorpusDocument | None]:
        """Drop the articles that a newer file has or deletes, and add the others to the set.

        documents (Sequence[CorpusDocument]): articles of a file, older than the files before it.
        report (CorpusReport): of reading the file; counts the dropped ones as `superseded`.
        RETURNS (list[CorpusDocument | None]): the documents, None in place of each dropped one.
        """
        newest: dict[str, int] = {}
        for index, document in enumerate(documents):
            before = newest.get(document.doc_id)
            if before is None or report.versions[index] >= report.versions[before]:
                newest[document.doc_id] = index
        kept = {
            index
            for pmid, index in newest.items()
            if pmid not in self and pmid not in report.withdrawn
        }
        for pmid in (*newest, *report.withdrawn):
            self.add(pmid)
        report.count("superseded", len(documents) - len(kept))
        return [document if i in kept else None for i, document in enumerate(documents)]

    @staticmethod
    def _number(pmid: str) -> int:
        return int(pmid) if pmid.isdecimal() and len(pmid) <= _MAX_DIGITS else 0
