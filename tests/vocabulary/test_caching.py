"""Values that are kept up to a number."""

import pickle

from spacy_angel.vocabulary.storage.caching import BoundedCache


def test_what_was_read_of_the_columns_is_kept_up_to_a_number() -> None:
    asked = []

    def read(key: int) -> int:
        asked.append(key)
        return 10 * key

    kept: BoundedCache[int, int] = BoundedCache(2)
    keys = (1, 2, 1, 2, 3, 3, 1)
    assert [kept.take(key, read) for key in keys] == [10, 20, 10, 20, 30, 30, 10]
    # The third is one too many, and the first has to be read again.
    assert asked == [1, 2, 3, 1]
    assert pickle.loads(pickle.dumps(kept)) == {}
