"""Batch annotation: files in a stream → shards of documents with links, on one machine or many.

inputs → documents ─ cut ─→ shards ─→ pipeline → links → bytes ─→ file, record beside it
                              └ one process, several, GPUs, or a Ray cluster
"""

from .document_linker import DocumentLinker, LinkingSettings
from .documents import AnnotatedDocument, AnnotatedMention, Failure, ScoredConcept
from .inputs import infer_format, input_formats, plan_inputs, read_input
from .outputs import OUTPUT_FORMATS
from .run import annotate

__all__ = [
    "OUTPUT_FORMATS",
    "AnnotatedDocument",
    "AnnotatedMention",
    "DocumentLinker",
    "Failure",
    "LinkingSettings",
    "ScoredConcept",
    "annotate",
    "infer_format",
    "input_formats",
    "plan_inputs",
    "read_input",
]
