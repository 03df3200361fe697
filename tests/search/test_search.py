"""Search against transformers' own beam search and against enumeration, on random models."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    T5Config,
    T5ForConditionalGeneration,
)
from transformers.modeling_outputs import BaseModelOutput

from spacy_angel.errors import AngelError
from spacy_angel.model.bart import BartModel
from spacy_angel.model.seq2seq import GenericModel
from spacy_angel.search.search import Expander, SearchSettings, beam_search
from spacy_angel.search.walker import Walker
from spacy_angel.vocabulary.storage.trie import NameTrie, SearchSpace

END = 2
VOCABULARY = 40


def bart(seed, layers=2):
    torch.manual_seed(seed)
    config = BartConfig(
        vocab_size=VOCABULARY,
        d_model=32,
        encoder_layers=layers,
        decoder_layers=layers,
        encoder_ffn_dim=48,
        decoder_ffn_dim=48,
        encoder_attention_heads=4,
        decoder_attention_heads=2,
        max_position_embeddings=64,
        init_std=0.3,
        forced_eos_token_id=None,
    )
    model = BartForConditionalGeneration(config).eval()
    torch.nn.init.normal_(model.final_logits_bias)
    return model


def t5(seed):
    torch.manual_seed(seed)
    config = T5Config(
        vocab_size=VOCABULARY,
        d_model=32,
        d_kv=8,
        d_ff=48,
        num_layers=2,
        num_heads=4,
        initializer_factor=1.0,
        decoder_start_token_id=0,
        eos_token_id=END,
    )
    return T5ForConditionalGeneration(config).eval()


def fast(model, dtype=torch.float32):
    return BartModel(model.config, model.state_dict(), torch.device("cpu"), dtype)


def random_names(seed, n=60, longest=9):
    """Names with shared partial names, long single chains, and names that begin others."""
    rng = np.random.default_rng(seed)
    names: set[tuple[int, ...]] = set()
    while len(names) < n:
        tokens = list(rng.integers(3, 12, size=rng.integers(1, 4)))
        if rng.random() < 0.5:
            tokens += list(rng.integers(3, VOCABULARY, size=rng.integers(0, longest - 3)))
        names.add((*(int(t) for t in tokens), END))
    return sorted(names)


def space(names, *added):
    tries, begin = [], 0
    for group in (names, *added):
        flat = np.array([t for name in group for t in name], dtype=np.int32)
        offsets = np.cumsum([0, *(len(name) for name in group)])
        indices = np.arange(begin, begin + len(group), dtype=np.int32)
        tries.append(NameTrie.build(flat, offsets, indices))
        begin += len(group)
    return SearchSpace(tuple(tries))


def random_prompts(seed, n):
    rng = np.random.default_rng(seed)
    sources = [
        [0, *rng.integers(3, VOCABULARY, size=rng.integers(2, 12)).tolist(), 2] for _ in range(n)
    ]
    prefixes = [
        [2, *rng.integers(3, VOCABULARY, size=rng.integers(1, 6)).tolist()] for _ in range(n)
    ]
    return sources, prefixes


def search(model, sources, prefixes, names, settings, subset=0, max_chain=3):
    walker = Walker(names, subset, END, torch.device("cpu"))
    with torch.inference_mode():
        expander = Expander(model.begin(sources, prefixes), walker, max_chain)
        return beam_search(expander, len(sources), settings)


def run(*arguments, **options):
    """RETURNS: for each mention (name index, log_prob, score)."""
    found = search(*arguments, **options)
    return [[(h.name, h.log_prob, h.score) for h in row] for row in found]


def generate(model, source, prefix, names, num_beams, length_penalty):
    """What transformers finds for one mention, without the fillers it adds."""
    index = {name: i for i, name in enumerate(names)}
    nodes: dict[tuple[int, ...], set[int]] = {}
    for name in names:
        for i in range(len(name)):
            nodes.setdefault(name[:i], set()).add(name[i])

    def allowed(_, sequence):
        return sorted(nodes.get(tuple(sequence.tolist()[len(prefix) :]), {1}))

    output = model.generate(
        torch.tensor([source]),
        attention_mask=torch.ones(1, len(source), dtype=torch.long),
        decoder_input_ids=torch.tensor([prefix]),
        prefix_allowed_tokens_fn=allowed,
        num_beams=num_beams,
        num_return_sequences=num_beams,
        length_penalty=length_penalty,
        max_new_tokens=20,
        no_repeat_ngram_size=0,
        forced_bos_token_id=None,
        output_scores=True,
        return_dict_in_generate=True,
    )
    found = []
    for tokens, score in zip(
        output.sequences.tolist(), output.sequences_scores.tolist(), strict=True
    ):
        name = tuple(tokens[len(prefix) :])
        name = name[: name.index(END) + 1] if END in name else name
        if score > -1e6 and name in index:
            found.append((index[name], score))
    return found


def all_log_probs(model, source, prefix, names):
    """Log-probability of every name, one forward pass each."""
    sums = []
    with torch.inference_mode():
        states = model.get_encoder()(torch.tensor([source]))[0]
        for name in names:
            ids = torch.tensor([[*prefix, *name]])
            logits = model(
                encoder_outputs=BaseModelOutput(last_hidden_state=states),
                attention_mask=torch.ones(1, len(source), dtype=torch.long),
                decoder_input_ids=ids,
            ).logits[0]
            steps = torch.log_softmax(logits, -1)[len(prefix) - 1 : -1]
            sums.append(steps.gather(1, torch.tensor(name)[:, None]).sum().item())
    return sums


Maker = Callable[[int], torch.nn.Module]


@pytest.mark.parametrize("length_penalty", [1.0, 0.0, 2.0])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("make", [bart, t5])
def test_beam_search_is_that_of_transformers(make, seed, length_penalty):
    model = make(seed)
    ours = fast(model) if make is bart else GenericModel(model)
    names = random_names(seed)
    sources, prefixes = random_prompts(seed, 7)
    if make is t5:
        prefixes = [[0, *prefix[1:]] for prefix in prefixes]
    settings = SearchSettings(num_beams=4, k=4, length_penalty=length_penalty)
    found = run(ours, sources, prefixes, space(names), settings)
    for source, prefix, result in zip(sources, prefixes, found, strict=True):
        expected = generate(model, source, prefix, names, 4, length_penalty)
        assert [name for name, _, _ in result] == [name for name, _ in expected]
        assert [s for *_, s in result] == pytest.approx([s for _, s in expected], abs=1e-4)


@pytest.mark.parametrize("max_chain", [0, 1, 20])
@pytest.mark.parametrize("num_beams", [1, 3, 8])
def test_chains_ahead_change_nothing(num_beams, max_chain):
    names = space(random_names(5))
    sources, prefixes = random_prompts(5, 6)
    settings = SearchSettings(num_beams=num_beams, k=num_beams)
    for model in (fast(bart(5)), GenericModel(t5(5))):
        expected = run(model, sources, prefixes, names, settings, max_chain=2)
        assert close(run(model, sources, prefixes, names, settings, max_chain=max_chain), expected)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("make", [bart, t5])
def test_with_enough_beams_all_names_are_found_as_by_enumeration(make, seed):
    model = make(seed)
    ours = fast(model) if make is bart else GenericModel(model)
    names = random_names(seed)
    sources, prefixes = random_prompts(seed, 5)
    settings = SearchSettings(num_beams=60, k=60, length_penalty=0.0)
    found = run(ours, sources, prefixes, space(names), settings)
    for source, prefix, result in zip(sources, prefixes, found, strict=True):
        expected = all_log_probs(model, source, prefix, names)
        assert {n: lp for n, lp, _ in result} == pytest.approx(dict(enumerate(expected)), abs=1e-4)
        scores = [score for *_, score in result]
        assert scores == sorted(scores, reverse=True)


def test_names_added_later_are_found_like_the_others():
    names = random_names(7)
    sources, prefixes = random_prompts(7, 6)
    settings = SearchSettings(num_beams=5, k=5)
    model = fast(bart(7))
    whole = run(model, sources, prefixes, space(names), settings)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(names)).tolist()
    base, added = sorted(order[:40]), sorted(order[40:])
    split = space([names[i] for i in base], [names[i] for i in added])
    parts = run(model, sources, prefixes, split, settings)
    renamed = [[((base + added)[n], *rest) for n, *rest in found] for found in parts]
    assert close(renamed, whole)


def test_a_subset_is_like_a_smaller_vocabulary():
    names = random_names(8)
    sources, prefixes = random_prompts(8, 6)
    settings = SearchSettings(num_beams=5, k=5)
    model = fast(bart(8))
    allowed = np.random.default_rng(1).random(len(names)) < 0.3
    whole = space(names)
    masked = SearchSpace(whole.tries, (None, (whole.tries[0].leaf_prefix_sums(allowed),)))
    kept = np.flatnonzero(allowed).tolist()
    expected = run(model, sources, prefixes, space([names[i] for i in kept]), settings)
    found = run(model, sources, prefixes, masked, settings, subset=1)
    assert close(found, [[(kept[n], *rest) for n, *rest in row] for row in expected])


def close(found, expected):
    """Same names, same numbers within 1e-4; names of equal score in any order."""
    return len(found) == len(expected) and all(
        sorted(n for n, *_ in a) == sorted(n for n, *_ in b)
        and all(
            x == pytest.approx(y, abs=1e-4)
            for (_, *xs), (_, *ys) in zip(a, b, strict=True)
            for x, y in zip(xs, ys, strict=True)
        )
        for a, b in zip(found, expected, strict=True)
    )


# Walking the trie


def test_of_the_names_of_a_leaf_only_those_of_the_subset():
    whole = space([(5, END), (5, END)], [(5, END), (5, END)])
    allowed = np.array([False, True, True, False])
    masks = tuple(each.leaf_prefix_sums(allowed) for each in whole.tries)
    masked = SearchSpace(whole.tries, (None, masks), (None, allowed))
    every, some = (Walker(masked, subset, END, torch.device("cpu")) for subset in (0, 1))
    leaf = every.children(torch.tensor([[1, 1]])).states[0].tolist()
    assert every.names(leaf) == [0, 1, 2, 3]
    assert some.names(leaf) == [1, 2]


@pytest.mark.parametrize("largest", [40_000, 65_535, 70_000])
def test_tokens_over_32767_keep_their_number(largest):
    walker = Walker(space([(largest, 3, END)]), 0, END, torch.device("cpu"))
    rows, tokens, states = walker.children(torch.tensor([[0]]))
    assert (rows.tolist(), tokens.tolist(), states.tolist()) == ([0], [largest], [[1]])
    assert walker.only_children(torch.tensor([[0]]))[0].tolist() == [largest]


@pytest.mark.parametrize(
    "names", [[(5, END), (5, 7)], [(5, END), (END, 5, END)], [(5, END), ()], [(), (5, END)]]
)
def test_the_end_token_stands_at_the_end_only(names):
    with pytest.raises(AngelError, match="must contain the end token"):
        space(names)
