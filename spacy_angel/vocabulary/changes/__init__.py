"""Changes of a vocabulary, made while running or by the rules of a file.

    `kb add|remove|rename`            kb.add(), kb.rename(), …
    `corrections`                               │
         │ append                               ▼
         ▼              ┌─ add, remove, ─▶ UserEdits ─▶ VocabularyOverlay over the stored table
    file of rules ─▶ Rule  rename
                        └─ prefer, exclude, allow ─▶ Curated ─▶ the linker

The file lies beside the vocabulary (`rules.tsv`) or is named by the linker's setting `curation`;
the linker follows both. Rules are applied from the first to the last. What is stored is never
changed.
"""
