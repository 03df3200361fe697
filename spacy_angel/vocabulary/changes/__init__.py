"""Changes of a vocabulary, made while running or by the rules of a file.

    `kb add|remove|rename`            kb.add(), kb.rename(), …
    `corrections`                               │
         │ append                               ▼
         ▼              ┌─ add, remove, ─▶ VocabularyOverlay over the stored table
    file of rules ─▶ Rule  rename
                        └─ prefer, exclude, allow ─▶ AppliedRules ─▶ the linker

The file is `rules.tsv` in the folder of the vocabulary, or the linker's setting `curation`; the
linker uses both: `ConceptKB.with_rules` makes a copy of the vocabulary that they have changed.
Rules are applied from the first to the last. Stored arrays never change.
"""
