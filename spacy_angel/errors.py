"""Every message a user may see, in one place: what was expected, what came, what to do."""

from typing import Any


class AngelError(ValueError):
    """Bad input or a wrong setting; the text says what was expected, what came, what to do."""


class _WithCodes(type):
    """Every message begins with its code in brackets, as spaCy's do."""

    def __getattribute__(cls, name: str) -> Any:
        value = super().__getattribute__(name)
        return value if name.startswith("_") else f"[{name}] {value}"


class Errors(metaclass=_WithCodes):
    """Messages of errors, templates for `str.format`; the hundreds tell the part of the package."""

    # E0xx: prompts, generator, search
    E001 = (
        "The model's prompt settings (angel.json) have the unknown keys {unknown}. Known: {known}. "
        "The model was saved by a newer spacy-angel, or the file was edited: update, or remove "
        "them."
    )
    E004 = "No weights in {path}. Expected one of: {files}, or an index of shards of one of them."
    E005 = (
        "Cannot read the weights {path}: {error}. Expected a safetensors file, or a PyTorch file "
        "with nothing but tensors. Fetch it again, or convert it to safetensors."
    )
    E007 = (
        "Cannot load the model in {path}: {error}. Expected a folder as `save_pretrained` of an "
        "encoder-decoder writes it, with a config.json that names its model type."
    )
    E008 = (
        "{path} is neither a folder, nor an installed pipeline, nor a name on the Hugging Face hub "
        "(organisation/name). Check the path or the name."
    )
    E009 = (
        "Cannot fetch the model {name} from the Hugging Face hub: {error}. Check the name and the "
        "connection, or download it elsewhere and give the folder instead."
    )
    E010 = (
        "Cannot load the tokenizer in {path}: {error}. If the checkpoint came without one, put the "
        "files of the one it was trained with into that folder, e.g. AutoTokenizer.from_pretrained("
        "'facebook/bart-large').save_pretrained('{path}') with transformers."
    )
    E011 = "Cannot read the prompt settings {path}: {error}. Expected a JSON object."
    E012 = (
        "The config.json in {path} lacks the end or the start token (eos_token_id: {eos}, "
        "decoder_start_token_id: {start}). Add both."
    )
    E013 = "int8 runs on the CPU, not on {device}. Use dtype 'bfloat16' or 'float16' there."
    E014 = (
        "The weights in {path} are not those of a BartForConditionalGeneration: no {missing} among "
        "{found}, … Save the whole model, not only a part of it."
    )
    E015 = (
        "int8 serves models of the BART family with tied embeddings; this one is of type "
        "{model_type}. Use dtype 'float32' or 'bfloat16'."
    )
    E016 = (
        "The prompt setting {name} (angel.json) must be of the type {expected}, it is {value!r}. "
        "Mend it, or leave it out for the published models' value."
    )
    E017 = (
        "The decoder prefix {prefix!r} (angel.json) may have {{mention}} in braces and nothing "
        "else. Write braces that are meant as such twice."
    )
    E018 = (
        "The int8 weights {path} are damaged: {problem}. Each int8 matrix NAME needs NAME.scale "
        "with one float32 a row. Save the model again."
    )
    E019 = (
        "The int8 weights {path} are stored by the rule {found!r}; this spacy-angel knows "
        "{known!r}. Update it, or save the model again."
    )
    E020 = (
        "A model of type {model_type!r} is no encoder-decoder, which is what generates names. Give "
        "one like BART or T5."
    )
    E021 = (
        "The weights in {path} lack {missing}: they are not those of the {model_type} model that "
        "the config.json there describes. Fetch or save the model again."
    )
    # E1xx: name trie, vocabulary store
    E101 = (
        "{path} is not a {kind} folder ({problem}). Give a folder that spacy-angel wrote, or make "
        "one with `spacy-angel kb build FILE -o DIR`."
    )
    E102 = (
        "{path} holds something other than a {kind}, which writing here would delete. Give an "
        "empty or new folder, or remove it yourself."
    )
    E103 = "{path} is damaged, it cannot be read as part of a {kind}: {problem}. Build it again."
    E104 = (
        "{path} is a {kind} of layout version {found}; this spacy-angel reads version {version}. "
        "Build it again, or use the release that wrote it."
    )
    E105 = (
        "The name trie in {path} was built from another tokenizer or other names: its fingerprint "
        "is {found}, the model and vocabulary have {expected}. Remove the folder: it is built anew."
    )
    E106 = "The names need {n} trie nodes, more than the 2147483646 that fit. Split the vocabulary."
    E107 = (
        "Token sequence {i} of the name trie is {found}; expected the end token {end} at its end "
        "and nowhere else. Add the end token to every name, and keep it out of the names."
    )
    E108 = (
        "A concept with the canonical name {name!r} has no identifier. Every concept needs one, "
        "e.g. `MESH:D003920`: correct or leave out the row that it comes from."
    )
    E109 = (
        "{concept_id!r} is not an identifier of this vocabulary. Identifiers carry their "
        "vocabulary, e.g. `MESH:D003920`; `spacy-angel kb info` says what is in it."
    )
    E110 = (
        "{concept_id!r} is in the vocabulary already. Use `add_names` to give it more names, or "
        "`remove` it first."
    )
    E111 = "{concept_id!r} has no name {name!r}. Its names: {names}."
    E112 = (
        "{name!r} is the only name of {concept_id!r}, and a concept needs one. Remove the concept, "
        "or add another name first."
    )
    E113 = (
        "The vocabulary has no concept of the types {unknown}. Its types: {known}. Leave out or "
        "correct what is misspelled."
    )
    E114 = "A subset of one vocabulary was used with another. Make it with this one's `subset`."
    E116 = (
        "The {field} of the concept {concept_id!r} must be {expected}, found {found!r}. Mend the "
        "concept; nothing of it was taken."
    )
    E117 = (
        "The names for {concept_id!r} must be a list of texts, e.g. ['gamma ray'], found "
        "{found!r}. Nothing was added."
    )
    E118 = (
        "The vocabularies give names of several concepts to {rules}. Say which rule the merged one "
        "is to have: `--shared-names`, or `shared_names=`."
    )
    E119 = (
        "The vocabulary in {path} was written anew since it was opened, so another process cannot "
        "open what this one has. Open it again with ConceptKB.from_disk."
    )
    E120 = (
        "The format to write is not clear from the name of {path}. Known: {known}; give --format, "
        "or a name that ends so, perhaps with .gz behind it."
    )
    E121 = (
        "No name of {concept_id!r} can be written into a table, for each has a tab, a line break "
        "or | in it: {names}. Write JSON lines (--format jsonl), which hold every name."
    )
    E131 = (
        "Cannot fetch {address}: {problem}. Check the connection and the proxy (HTTPS_PROXY), or "
        "fetch the file elsewhere and give the copy with --file."
    )
    E132 = (
        "{address} answers with a web page in place of the file; some servers ask for a click "
        "first. Open the address in a browser, and give the file that you get with --file."
    )
    E133 = (
        "What came from {address} has the {algorithm} checksum {found}, expected was {expected}. "
        "It was changed on the way, or the source has a new release: nothing of it is kept. Try "
        "again; a copy that you trust can be given with --file."
    )
    E134 = (
        "{name!r} is not in the catalogue of vocabularies. Known: {known}. Of a file of your own "
        "make one with `spacy-angel kb build`."
    )
    E135 = "{name} cannot be fetched without you: {steps}"
    E136 = (
        "{name} is published without addresses of its releases, so only the newest can be fetched. "
        "Leave out --release, or give a copy of release {release} with --file."
    )
    E137 = (
        "{path} has no {pattern} in it, which {name} is read from. Give the archive as it is "
        "published, or the file out of it."
    )
    E138 = "{name} has no option --taxon. It is for vocabularies of several species: {known}."
    E139 = (
        "{value!r} is no list of taxa. Give identifiers of NCBI Taxonomy with commas between them, "
        "e.g. 9606,10090."
    )
    E140 = (
        "{path} was not fetched from an address, so that it cannot be fetched anew. Build it again "
        "from the file that it was made of."
    )
    E141 = (
        "{path} was changed in a way that cannot be repeated with its next release: {changes}. "
        "Fetch into another folder with `spacy-angel kb fetch NAME -o DIR`, or give "
        "--drop-changes. Rules (`kb add --concept`, `remove`, `rename`) stay in either case."
    )
    E142 = (
        "The {what} of the package is {value!r}, expected something like {expected}. Give another "
        "one with --{what}."
    )
    E143 = (
        "Nothing says under which terms {path} may be passed on: its source {unknown} has no "
        "licence in the metadata. Give a file with them: --licence FILE."
    )
    E144 = "The new name of {concept_id} is empty. Give one with letters in it."
    E145 = (
        "There is no rule in {path} that could be taken back. `kb add --concept`, `remove` and "
        "`rename` write such; what came from files (`kb add FILE`) is taken out by building anew."
    )
    E146 = (
        "Nothing was changed, for the new rule would have no effect: {rule}. In {path}, {why}. "
        "Take that out first, by hand or with `spacy-angel kb undo`."
    )
    E147 = (
        "{path} is not the record of changes that version 0.1 wrote there: {error}. Remove it; the "
        "vocabulary stays as it is, but its changes are lost at the next `kb update`."
    )
    E148 = (
        "{address} is an address, a file was expected. Download it and give the file; or see "
        "`spacy-angel kb list` for what `spacy-angel kb fetch` gets by name."
    )
    # E2xx: vocabulary readers
    E203 = (
        "{path}, line {line}: expected {expected}, found {found}. Check that the file is complete "
        "and in the format that you read it as."
    )
    E204 = (
        "{path}, line {line}: {concept_id} had rows before, with other concepts between them. The "
        "rows of a concept are merged only where they follow each other: sort the file by "
        "identifier, or remove what stands there twice."
    )
    E205 = (
        "{path}, line 1: expected concepts, found none from here to the end{skipped}. Check that "
        "it is the right file, and your filters."
    )
    E209 = "{path}: expected a folder with {expected} in it, found none. {hint}"
    E210 = (
        "{path}, line 1: expected synonyms in the third column, found tree numbers ({found!r}). "
        "Give the table that has the names beside it: `kb build NAMES.tsv {path}`; or this file as "
        "its option, `--option tree_numbers={path}`."
    )
    E211 = (
        "The option {name} of the format {format} must be {expected}; it is {found!r}. Correct it, "
        "or leave it out."
    )
    E212 = (
        "{path}, line {line}: of the columns {problem}. Expected e.g. --columns "
        "'id=Code,name=Label,synonyms=Other names,type=Kind', or numbers from 1; found: {found}."
    )
    # E3xx: component
    E301 = (
        "n_sents={n_sents} needs sentence boundaries, the document has none. Add a component that "
        "sets them before the linker, e.g. nlp.add_pipe('sentencizer'), or set n_sents to null for "
        "the whole document as context."
    )
    E302 = (
        "The model's log-probability for {concept_id} is not a number. Its weights are damaged, or "
        "they overflow in this dtype: use float32 or bfloat16."
    )
    E303 = (
        "Calibration needs mentions whose right concept is among the candidates; of {n_mentions} "
        "mentions none has it. Check that the corpus has identifiers of this vocabulary."
    )
    E304 = "{component} has no setting {unknown}. Known: {known}. Correct the name, or remove it."
    E305 = "{component}'s setting {name} must be {expected}, not {value!r}."
    E306 = (
        "No {what} was given and {path} does not exist, so this installation has no shipped {what}."
        " Set `{what}` in the config of angel_linker, or install the package again."
    )
    E307 = (
        "{model!r} is not a folder. A hub name is fetched in `initialize` only: call "
        "nlp.get_pipe('angel_linker').initialize() once, or correct the path."
    )
    E308 = (
        "The vocabulary {path} does not exist. Give a folder that `spacy-angel kb build` wrote, a "
        "vocabulary file, or the name of one that was fetched (`spacy-angel kb list` shows which)."
    )
    E309 = (
        "The linkers {first!r} and {second!r} both write {shared}. Name the second one's outputs, "
        "e.g. nlp.add_pipe('angel_linker', name={second!r}, config={{'outputs': {{'kb_id': "
        "'other_id', 'kb_ents': 'other_ents', 'candidates': 'other_candidates'}}}}). A span group "
        "is written as outputs.span_key, and as span_key where outputs.kb_id is 'kb_id'."
    )
    E310 = (
        "span._.{name} is another component's computed attribute, angel_linker cannot write it. "
        "Choose another name with the setting {setting}."
    )
    E312 = (
        "Cannot use the description {path}: {problem}. Expected a JSON object with any of {known}."
    )
    E313 = (
        "The pipeline that ships is not in this installation ({path}). Install the package again, "
        "or put one together with `spacy-angel assemble`."
    )
    E314 = (
        "angel_linker's setting types_by_label gives the label {label!r} the types {unknown}, "
        "which no concept of the vocabulary has. Correct them, leave them out, or set the "
        "vocabulary first. Its types: {known}. To link one label only, set `labels`."
    )
    E316 = (
        "The model cannot run on the device {device!r}: torch finds {known} on this machine. Set "
        "`device` to one of them, or install a torch that finds yours."
    )
    E317 = (
        "Negation, history and family need the package negspacy: pip install "
        "'spacy-angel[negation]'."
    )
    E319 = (
        "{path}, line {number}: expected a short form, `short form`, and what it stands for, with "
        "tabs between them, found {n} cells. Correct the line."
    )
    E321 = (
        "The shipped model has a tokenizer and a preset of its own (given: {tokenizer}, {preset}). "
        "Leave them out, or give a model."
    )
    E322 = (
        "{matcher} finds the names of a linker's vocabulary, and the pipeline has no angel_linker "
        "called {name!r} (its linkers: {linkers}). Add one behind it, or name it with the setting "
        "`linker`."
    )
    E323 = (
        "{matcher} stands behind {name}, which would not link what it finds. Add it with "
        "`nlp.add_pipe({matcher!r}, before={name!r})`."
    )
    E324 = (
        "Cannot open the recogniser in {path}: {problem}. Expected a folder as `spacy-angel train "
        "recogniser` or `MentionFinder.to_disk` writes it."
    )
    E325 = (
        "The component {name!r} has no model. Give it one, `nlp.add_pipe('angel_recogniser', "
        "config={{'model': FOLDER}})`, with the folder that `spacy-angel train recogniser` wrote."
    )
    E327 = (
        "Cannot read the changed settings {path}: {problem}. Expected what `to_disk` writes, of "
        "each setting its value in config.cfg and the changed one. Put the file back, or write "
        "{{}} into it: then config.cfg holds alone."
    )
    E328 = (
        "There is no model in {model}. Give a folder with a checkpoint, a hub name such as "
        "`dmis-lab/ANGEL_bc5cdr`, or null for the model that ships."
    )
    E329 = "angel_linker's {name}: expected {expected}, got {value!r}. {remedy}"
    E330 = "angel_linker has no setting {names}.{hints} Its settings: {known}."
    E331 = (
        "{path} is a vocabulary, a model was expected. Give it as such: `load(kb=...)`, or `--kb`."
    )
    E340 = (
        "{path!s} is no ranker of this version: {reason}. Fit one with scripts/fit_ranker.py, or "
        "leave `ranker` out for the one that ships."
    )
    E350 = (
        "{path} is no file of rules that can be read: it has more than {limit}. Divide it, or "
        "allow and exclude subtrees or types in place of single concepts."
    )
    E351 = (
        "The first row of {path} must name the columns, with tabs between them, each once, "
        "`action` among them; it is {found!r}. Write e.g. `action string concept condition reason`."
    )
    E352 = (
        "{text!r} ({label}) is none of the mentions that angel_linker reads, those of {where}. "
        "Take the span from there, or put it there and link the document."
    )
    E355 = (
        "Nothing is written to {path}: the {n:,} rules of these corrections break more than they "
        "correct on documents that they were not made from. Correct more documents, or write the "
        "rules that you are sure of by hand."
    )
    E326 = "The recogniser does not know the labels {unknown}. Known: {known}."
    # E4xx: corpora
    E401 = (
        "{where}: the mention {mention!r} was expected at characters {start} to {end} of document "
        "{doc_id}, but there stands {found!r}. Correct the offsets; or read with strict=False, "
        "which leaves such mentions out and counts them."
    )
    E405 = (
        "{where}: the abstract of document {doc_id} must follow the title line `{doc_id}|t|…`, "
        "once. Put the lines of a document together, with a blank line after them."
    )
    E406 = (
        "{where}: `id|t|title`, `id|a|abstract`, tab-separated columns or a blank line was "
        "expected, {line!r} came. Is this a PubTator file?"
    )
    E407 = (
        "{where}: a mention of document {doc_id} stands outside that document. Put the lines of a "
        "document together, with a blank line after them."
    )
    E408 = (
        "{where}: document {doc_id} has a title but no abstract line `{doc_id}|a|…`: the file was "
        "cut, or the document needs an empty abstract line."
    )
    E409 = (
        "{where}: a mention of document {doc_id} must have id, start, end, mention, type, "
        "identifier (and individual mentions) separated by tabs, with whole numbers for start and "
        "end; this line has {fields} columns. Was the file cut or converted?"
    )
    E410 = (
        "The document id {doc_id!r} cannot be written into a PubTator file: it must not be empty "
        "nor hold `|`, tabs or line ends. Give the document another id, or write BioC JSON."
    )
    E413 = (
        "{where}: the document that ends here is no BioC document: {problem}. Correct it; or read "
        "with strict=False, which leaves such documents out and counts them."
    )
    E415 = (
        "{where}: AskAPatient has three columns separated by tabs (a code in digits, preferred "
        "term, phrase), {line!r} came. Is this an AskAPatient fold, and whole?"
    )
    E416 = (
        "{where}: the columns {missing} are missing; found: {found}. COMETA's files are "
        "tab-separated with a line of column names."
    )
    E417 = (
        "{where}: a row of COMETA must have {columns} columns with a term and a code in digits "
        "under {id}; this one has {fields} columns. Was the file cut or edited?"
    )
    E418 = (
        "{where}: the separated values are broken ({error}). Fields that hold quotes, separators "
        "or line ends have quotes around them; was the file cut or edited?"
    )
    E419 = "{path} has no file `{split}.source`. Expected: a folder that GenBioEL's scripts wrote."
    E420 = (
        "{path} has no label file for {split}, which holds the identifiers, e.g. "
        "`{split}label.txt`. Without it there is nothing to train on or to compare with."
    )
    E421 = "{short} has fewer lines than its companions; these must be equally long: {files}."
    E422 = (
        "{where}: a JSON list with one string, the mention between START and END, was expected, "
        "and in the target file a list of `<mention> is` and a name; {line!r} came, or the two "
        "lines are not of one mention."
    )
    E423 = "{path} is no spaCy DocBin, or is damaged ({error}). Write it again."
    E426 = (
        "Abbreviations by Ab3P need the package pyab3p: pip install 'spacy-angel[ab3p]'. Or use "
        "abbreviations=scispacy, which needs nothing more."
    )
    E427 = "The preprocessing step {step} has no choice {value!r}. Choices: {known}."
    E428 = (
        "Leaving out mentions whose concept is not in the vocabulary (unknown=drop) needs the "
        "vocabulary: pass known=, which must say whether an identifier is in it."
    )
    E431 = (
        "The mention {text!r} has the type {label!r}, which no entity label is given for. Expected "
        "one of: {known}, by any known spelling. Leave this corpus out, or give `labels`."
    )
    E432 = (
        "No concept has a type that the recogniser knows, so there are no names to put into the "
        "training documents. Expected one of: {known}, by any known spelling. Give another "
        "vocabulary."
    )
    E434 = (
        "Noise needs a number of edits of at least 0 and a share of the context between 0 and 1; "
        "got {edits} and {context}."
    )
    E435 = (
        "{where}: documents were expected, a table of mentions came (columns: {found}). Give the "
        "documents, with their texts; mentions of their own can be given as JSON lines."
    )
    E436 = (
        "These steps do not go together: {steps}. expand=words, expand=whole and composites=first "
        "are of marked_only; the other ways to expand, and blank_marks, are not."
    )
    E437 = (
        "{where}: a line with the number of a document was expected, and one with its text behind "
        "it, {line!r} came. Is this GSC+ as PhenoTagger has it, and whole?"
    )
    E438 = (
        "{where}: a mention of document {doc_id} must have start, end, mention and identifier "
        "separated by tabs, with whole numbers for start and end, {line!r} came. A blank line ends "
        "a document."
    )
    E439 = "The format {format} is only read. Formats that are written: {known}."
    E440 = (
        "{path} is there already, and may hold what an annotator corrected. Give a new folder, or "
        "move that one away."
    )
    E441 = (
        "{where}: this is no task of Label Studio with a text: {problem}. Export the project as "
        "JSON; or read with strict=False, which leaves such tasks out and counts them."
    )
    E442 = (
        "{where}: task {doc_id} has {n} {results} to choose from, by {names}. Name whose is meant "
        "(`--option annotator=NAME`), or mark one as ground truth in Label Studio."
    )
    E443 = (
        "{path}: none of the {n} tasks has {wanted}; {others} have {other}. Export finished tasks, "
        "or read the others: `--option results={other}`."
    )
    E444 = (
        "{where}: {expected} was expected, {line!r} came. Is this a file of brat, and whole? Read "
        "with strict=False, which leaves such lines out and counts them."
    )
    E445 = (
        "{path} has no {companion} beside it. brat keeps a text and its annotations in two files "
        "of one name; put both into the folder."
    )
    E447 = (
        "{path} is no UIMA CAS as INCEpTION exports it, or is damaged ({error}). Export the "
        "document again; or read with strict=False, which leaves such files out and counts them."
    )
    E448 = (
        "{path}: document {doc_id} was read from {other} already, so there are several annotators. "
        "Name whose files are meant, e.g. `--option annotator={annotator}`."
    )
    E449 = (
        "Document {doc_id} has a character that {format} cannot hold ({error}). Write UIMA CAS "
        "JSON, or take the character out of the text."
    )
    E450 = (
        "{path}: nothing of {annotator!r} was found; there is work of: {names}. Name one of them "
        "(`--option annotator=NAME`)."
    )
    E451 = (
        "{path}: the types of the files have no {lacking}. Name the layer and its features as "
        "INCEpTION exports them, with `--option layer=`, `label_feature=` and `id_feature=`."
    )
    E452 = (
        "{where}: no correction: {problem}. A line is an object with `mention` and `chosen_id`, "
        "and where they are known `left`, `right` and `label`."
    )
    E453 = (
        "{path} is no folder of annotations in CRAFT's. Give that of an ontology, e.g. "
        "`CRAFT/concept-annotation/CL/CL`, where the texts of the articles lie in "
        "`CRAFT/articles/txt`."
    )
    E454 = (
        "{where}: the annotation {text!r} has no class, or no span with `start` and `end`. Is this "
        "a file of Knowtator, and whole? Read with strict=False, which leaves such annotations out "
        "and counts them."
    )
    # E5xx: evaluation
    E501 = (
        "Expected gold mentions with identifiers to count; of the {n} mentions read, none has one. "
        "Check the corpus, its format and the preprocessing steps."
    )
    E502 = (
        "None of the {n} gold mentions has its concept in the vocabulary (gold identifiers like "
        "{examples}). Pass the knowledge base that this corpus is annotated with; identifiers need "
        "the same vocabulary prefix in both."
    )
    E503 = (
        "Two systems are compared on the same mentions; got {a} and {b} of them. Evaluate both on "
        "the same corpus with the same preprocessing."
    )
    E504 = "Expected as many texts in `b` as in `a`, one pair a row; got {a} and {b}."
    E505 = (
        "scispaCy's candidate generator drops 3-grams that fewer than 10 names have; of this "
        "vocabulary of {n} names nothing is left. Take the baseline `exact` or `tfidf`."
    )
    E506 = (
        "The baseline `{baseline}` only links mentions it is given. Leave `predicted` off, or take "
        "a pipeline that finds mentions."
    )
    E507 = (
        "Adding the mention strings of a training corpus needs that corpus: give `train` as well."
    )
    E508 = "The baseline `{baseline}` has no vocabulary of its own: give `kb`."
    E509 = (
        "Expected the folder of an evaluation with {file}, but {path} has none. Evaluate into it "
        "first."
    )
    E510 = (
        "The two evaluations differ from line {line} of their predictions on: {a} and {b}. Compare "
        "systems on the same mentions of the same corpus."
    )
    E511 = (
        "Expected files like `AskAPatient.fold-0.test.txt` in {path}, beside each its train and "
        "validation file; missing: {missing}. Give the folder that holds the folds, or one file."
    )
    E513 = (
        "`pmids` chooses documents of the corpus and would leave nothing of `train`. Write the "
        "training documents to a file of their own, or leave one of the two out."
    )
    E514 = (
        "{path}, line {line}: a prediction was expected, as this version of spacy-angel writes it. "
        "Evaluate into that folder again."
    )
    E515 = (
        "--noise needs a kind, or a kind and a number of edits, e.g. `typo` or `ocr:1`; got "
        "{value!r}. Kinds: {known}."
    )
    E520 = (
        "Cannot read the floors {path}: {problem}. Expected TOML with the tables [all], "
        "[label.NAME], [vocabulary.PREFIX], each with `precision` or `recall` in per cent."
    )
    E517 = (
        "The pipeline's mentions are of the types {predicted}, those of the corpus of {gold}: "
        "nothing can be right. Take a pipeline, or mentions (--label), of the same types."
    )
    E518 = (
        "The protocol belb counts gold mentions, but the pipeline is to find them itself. Leave "
        "out --predicted and the protocol hunflair2, or belb."
    )
    E519 = (
        "{path} does not hold the figures of an evaluation ({error}). Evaluate into that folder "
        "again."
    )
    # E6xx: training
    E600 = (
        "The config {path} does not describe a training run: {problems}. Compare it with "
        "configs/ncbi.cfg, and with the settings in spacy_angel/training/course/config.py."
    )
    E601 = (
        "Cannot read the argument {argument!r}. Settings are overridden as --section.name value, "
        "e.g. --positive.optimizer.steps 1000."
    )
    E602 = (
        "A small BART can start from a BERT-like encoder (model type 'bert'); {name} is of type "
        "{found!r}. Choose such a checkpoint, or backbone.kind = pretrained for an encoder-decoder."
    )
    E603 = (
        "The batch of {batch} does not divide over {processes} processes and {accumulate} parts. "
        "Choose another batch_size, accumulate, or number of processes."
    )
    E604 = (
        "There is nothing to train on for {output}: no example was left. Check the training files, "
        "their identifiers and the vocabulary."
    )
    E605 = (
        "{output} holds a run with other settings (different: {changed}), so it cannot go on from "
        "there. Choose another output folder, remove this one, or restore the settings."
    )
    E606 = (
        "Line {number} of {path} is not a preference pair: {problem}. Expected an object with "
        "mention, left, right, chosen, rejected. Mine the pairs again, or correct the line."
    )
    E607 = (
        "{setting} gives no mention with an identifier of the vocabulary (files: {paths}). Check "
        "the files, and that data.kb is the vocabulary they were annotated with."
    )
    E608 = (
        "The loss {kind!r} compares with a reference model, and the pairs carry no "
        "log-probabilities of one. Put the values of reference_log_probs into the rows, or choose "
        "the loss 'pairwise', 'cpo' or 'simpo'."
    )
    E609 = (
        "Pairs by folds (negative.pairs.folds = {folds}) come from models that are fine-tuned "
        "anew. Mine them with `spacy-angel train mine` and --before MODEL, the model that "
        "positive-only training began with, and train on them with --pairs; or set "
        "negative.pairs.folds to 1."
    )
    E610 = (
        "A mean needs at least one model, and of every model a finite share above 0; there are {n} "
        "models with the shares {shares}. Give one share a model, or none."
    )
    E611 = (
        "{path} has {problem} than {first}, so their weights have no mean. Average models that "
        "were fine-tuned from the same one."
    )
    E613 = (
        "{path} is no model folder: it has no config.json. Give the folder that training wrote as "
        "`model`."
    )
    E614 = (
        "Positive-only training needs a model to begin with: `--start MODEL`, most often the "
        "pre-trained OUTPUT/negative/model or en_angel_mini; or `--from-backbone` for the config's "
        "backbone as it is, without pre-training. Give one of the two."
    )
    E615 = "There is no config {name!r}: neither a file nor one of those that ship: {known}."
    E616 = "{path} is there already, and no config is copied over it. Give another folder."
    E618 = "TRL does not have the loss {kind!r}. Set engine = plain beside it."
    E619 = (
        "{given} stand before the command {command!r}, which has options of its own. Put them "
        "behind it, or leave the command out to train on a corpus of your own."
    )
    E620 = (
        "To train on a corpus of your own, {missing} is missing. Needed: --train CORPUS --dev "
        "CORPUS --kb VOCABULARY --output FOLDER; or a command, see `spacy-angel train --help`."
    )
    E621 = (
        "negative.rounds = {rounds} mines pairs anew for each round, with the weights so far, so "
        "{other} would do nothing. Leave one of the two out, or set negative.rounds to 1."
    )
    E622 = (
        "The mention {text!r} in {path} has the label {label!r}, which [corpora.{corpus}.labels] "
        'does not have. Add a line: {label} = "GENE" (or another label of the recogniser); with a '
        'question mark behind it, "GENE?", where such mentions may or may not be one; "" to read '
        "over them."
    )
    E623 = (
        "A recogniser begins with the encoder of a BART that has a fast tokenizer "
        "(tokenizer.json); {path} is a {model_type}. Give another model as recogniser.start, e.g. "
        "en_angel_mini, or train one with spacy-transformers (configs/ner_trf.cfg)."
    )
    E624 = (
        "{path} is damaged: {problem}. Remove it, and start the same command again: the run goes "
        "on from its last checkpoint."
    )
    E629 = (
        "The corrections did not help: of the development set {after:.1%} come first with the "
        "model in {folder}, {before:.1%} with the one that it began with, {start}. Keep that one; "
        "give more corrections, or a lower negative.optimizer.learning_rate."
    )
    E625 = (
        "{setting} wants words to be masked, but the tokenizer of recogniser.start has no piece "
        "for that ([MASK] or <mask>). Leave {setting} out, or begin with another model."
    )
    E626 = (
        "The teacher {path} knows none of the labels {labels}. Name those that have read for some "
        "of them as recogniser.teachers."
    )
    E627 = (
        "The texts of [reading] ({paths}) do not fill a window of {room} pieces. Name files with "
        "more text, or leave [reading] out."
    )
    E628 = (
        "The teacher {path} cuts words into other pieces: it lacks {missing} of {total}. Train one "
        "that begins with the same vocabulary of pieces, or let the small one begin with the "
        "teacher's (recogniser.start and recogniser.layers)."
    )
    # E7xx: command line
    E701 = (
        "One thing to add is needed: a vocabulary file, `--mentions CORPUS`, or `--concept ID` "
        "with its names. Call the command once for each."
    )
    E702 = 'One text is needed: `link "TEXT"`, or `link --file FILE`.'
    E703 = (
        "A pipeline has its own model and vocabulary: leave out --model, --tokenizer, --preset and "
        "--kb, or --pipeline. Those that ship take --kb."
    )
    E704 = "--option needs NAME=VALUE, e.g. `--option sources=MSH,NCI`; it is {value!r}."
    E706 = (
        "{pipeline!r} cannot be loaded as a pipeline: {reason}. Give a folder that spaCy wrote, or "
        "the name of an installed package."
    )
    E707 = (
        "The pipeline has no angel_linker. Its components: {names}. Add one with "
        'nlp.add_pipe("angel_linker") and save the pipeline.'
    )
    E710 = (
        "The preprocessing {preset!r} leaves out mentions that the vocabulary does not know: name "
        "the vocabulary with --kb."
    )
    E711 = "--name takes names from one concept, {found!r} are several identifiers. Give one."
    E712 = "--concept ID and --name NAME belong together: give both, or a file without them."
    E720 = "{path} knows no dataset {name!r}. Known: {known}."
    E721 = "{path} is missing. {where}"
    E722 = (
        "{url} could not be fetched: {error}. Try again later, or get the file in another way and "
        "put it at {path}; or name a folder that has it: --vars.mirror FOLDER."
    )
    E723 = "{path} cannot be unpacked: {problem}. Remove it and fetch it again."
    E724 = (
        "{path} has a wrong checksum: {algorithm} {found} instead of {expected}. It was taken from "
        "{address}, and is changed or damaged. Remove it and fetch it again; if it stays so, get "
        "the file in another way and put it there."
    )
    E725 = "No vocabulary of {name} is complete in {folder}. Run the command `fetch` first."
    E726 = "{path} is missing. {name} has no {split} split, or its files could not be fetched."
    E727 = (
        "{path} is not inside the project {project}, and nothing outside is removed. Check the "
        "variables of project.yml."
    )
    E728 = (
        "{path} holds a run that the project did not begin. Move it away or remove it, so that the "
        "project's own can stand there."
    )
    E729 = "{path} knows no study {name!r}. Known: {known}."
    E730 = (
        "No released form of the steps {name!r} is known; there is one of: {known}. Leave out "
        "`--vars.form released`."
    )
    # E8xx: batch annotation
    E802 = (
        "{path} looks like none of the input formats. Name it: --format with one of {known} "
        "(`lines` for plain text with one document a line)."
    )
    E803 = "The folder {path} holds no files. Give files, or the folder that they lie in."
    E804 = (
        "{path} is one corpus as {format} has it, which its files alone are not. Convert it first: "
        "`spacy-angel corpus {path} -o documents.json`, and annotate that file."
    )
    E805 = (
        "{where}: the article that ends here has no PMID. Fetch the file again; or annotate "
        "without --strict, which leaves such articles out and counts them."
    )
    E807 = (
        "{path} is too long: a plain text is one document of at most {limit} bytes, unpacked. Cut "
        "it, or read it with --format lines, one document a line."
    )
    E808 = "{where}: this is no document: {problem}. Correct it, or leave it out."
    E809 = (
        "{path}, after row {row}: not a Parquet file, or a damaged one ({error}). Fetch it again."
    )
    E812 = (
        "The last {n} documents all failed, {doc_id} with: {reason}. That is rarely the documents' "
        "fault, so nothing of their shard was recorded. Look into it, and start the same command "
        "again: it goes on from here."
    )
    E813 = "Document {doc_id} failed: {reason}. Without --strict it would be recorded and skipped."
    E814 = (
        "A worker process ended without a word, most often for want of memory, or because a script "
        'calls `annotate` outside of `if __name__ == "__main__":`. Take fewer workers or put the '
        "call there, and start the same command again: it goes on from here."
    )
    E815 = (
        "{path} holds no annotation that could be continued, and other files. Give an empty or "
        "new folder; what an older version has begun, that version goes on with."
    )
    E816 = (
        "{path} was begun with other settings (different: {changed}), so continuing would mix two "
        "outputs. Restore the settings, or give a new folder."
    )
    E817 = (
        "{path} is not the file that it was when {output} was begun. Put the old one back, or "
        "annotate the new one into a new folder."
    )
    E818 = "Another process is annotating into {path}. Wait for it, or give another folder."
    E819 = "{name} must be {expected}, not {value!r}."
    E821 = (
        "Addresses ({path}) are read and written with --ray, all inputs and the output alike, as "
        "folders of Parquet files. Give local paths, or addresses for all of them with --ray."
    )
    E822 = "No GPU that torch can use was found for the device {device!r}. Use the device 'cpu'."
    E823 = (
        "Many machines open the pipeline each for itself: give its folder, on a disk that all of "
        "them see, with --pipeline. `spacy_angel.load().to_disk(FOLDER)` writes the shipped one."
    )
    E824 = (
        "{path} cannot be written: {reason}. {advice} What was recorded is kept: the same command "
        "goes on from there."
    )
    E825 = (
        "{path} has changed since this run began, so what was read is not what is there now. Start "
        "the same command again once it is left alone: what has changed is annotated anew."
    )
    E826 = (
        "Files of the format {format} cannot follow each other on standard output. Take one of "
        "{known}, or give a folder with --output."
    )
    E827 = (
        "{path} is no table of mentions as `annotate` writes it: the columns {missing} are not in "
        "its first line. Give the folder or table that `annotate` wrote."
    )
    E828 = "{path} holds the annotated files that are read. Give another folder with --output."
    E829 = (
        "{path} is a table of mentions without their texts, and document {doc_id} has one whose "
        "link may be another now: the model has to read it. Give the documents that were annotated "
        "with --texts."
    )
    E830 = (
        "{path} has no document {doc_id} behind those that were read, or another text there: "
        "{found!r} in place of the mention {text!r}. Give the documents that were annotated, in "
        "their order."
    )
    E831 = (
        "{path} has documents with different texts and the identifier {doc_id} one after the "
        "other, and a table of mentions does not say which mention is of which. Give each an "
        "identifier of its own, or annotate to JSON lines or Parquet, which hold the texts."
    )
    # E85x: components of other packages
    E850 = (
        "The component abbreviation_detector needs the package scispacy: pip install "
        "'scispacy>=0.6.2,<0.7'."
    )
    E851 = (
        "The pipeline {path} needs the package spacy-transformers for its component {name!r}: pip "
        "install 'spacy-angel[train]'."
    )
    # E86x: the service
    E860 = (
        "`spacy-angel {command}` needs the packages of its extra: pip install "
        "'spacy-angel[{extra}]'."
    )
    E861 = (
        "The address {host} can be reached from other machines, which needs a secret: write one to "
        "a file and name it with --token-file. Without one only this machine is served: --host "
        "127.0.0.1."
    )
    E862 = (
        "The token file {path} must hold one line of at least {least} printable characters without "
        "spaces, e.g. of `openssl rand -hex 32`."
    )
    E863 = "The request has over {n:,} bytes, which is what may be sent. Send it in parts."
    E864 = "The body did not come within {seconds:g} seconds. Send the request again."
    E865 = "The request has {found:,} {what}; {most:,} may be sent. Send it in parts."
    E866 = "{n:,} requests are waiting, which is as many as may. Try again in a second."
    E867 = "The service is stopping. Ask another one, or this one when it is back."
    E868 = "The header {name} names another place than this service. Ask it by its own address."
    E869 = "A token is needed: the header `Authorization: Bearer TOKEN`."
    E870 = "{where}: {problem}."
    E871 = "Not one of the types of answers that there are is accepted. They are: {known}."
    E872 = "{where}: the pipeline fails on it ({kind}). Leave it out, and report the fault with it."
    E873 = (
        "No concept of the vocabulary has this identifier. Search for a name of it instead, "
        "/concepts?q=NAME."
    )
    E874 = "The service has a fault ({kind}). It is written to its log; please report it."
    E875 = (
        "Requests with {n:,} bytes together are being answered, which is as many as may. Try again "
        "in a second."
    )
    E890 = (
        "{options} can be given with one vocabulary only, but several are asked for: {names}. "
        "Fetch the one by itself."
    )
    E891 = (
        "{n} of {n_all} vocabularies could not be fetched: {names}. What came of them is kept: "
        "`spacy-angel kb fetch {names}` goes on there. The reason of each stands above."
    )
    E892 = (
        "What came from {address} is no whole gzip file ({error}), and nothing of it is kept. Try "
        "again later; a copy that you trust can be given with --file."
    )
    E880 = (
        "span._.{name} is another component's computed attribute, angel_variants cannot write it. "
        "Register that attribute under another name."
    )
    # E9xx: files
    E901 = "{path} cannot be read: {error}. Check the path and your rights on it."
    E902 = (
        "{where}: the file breaks off or is damaged ({error}). Fetch or unpack it again; what came "
        "before this line is sound."
    )
    E903 = (
        "{where}: expected UTF-8 text, found {found}. Convert the file to UTF-8, e.g. with `iconv "
        "-f LATIN1 -t UTF-8`; a corpus can also be read with strict=False, which leaves such lines "
        "out and counts them."
    )
    E904 = (
        "{where}: the line has more than {limit} bytes. Is it a file of lines, and whole? A corpus "
        "can also be read with strict=False, which leaves such lines out and counts them."
    )
    E905 = (
        "{where}: the compressed file unpacks to more than {times} times its size, as no text or "
        "table does. If it is sound all the same, unpack it first."
    )
    E906 = (
        "{where}: the XML is broken or cut ({error}). Fetch the file again; what came before this "
        "line is sound."
    )
    E907 = (
        "{where}: the file should begin with {expected}, but begins with {found}. Is this another "
        "kind of XML?"
    )
    E908 = (
        "{where}: the JSON is broken or cut ({problem}). Correct it, or fetch the file again; what "
        "came before this line is sound."
    )
    E909 = "The format {format} has no option {unknown}. Its options: {known}."
    E910 = "There is no {kind} {name!r}. Known: {known}."
    E911 = "{path} looks like no known {kind} format. Name it: --format with one of {known}."
    E912 = (
        "The entry point {entry} should give a {kind} format (`spacy_angel.files.formats.Format`) "
        "of a name of its own; it gives {found!r}. Mend or remove the package that has it."
    )
    E913 = "{path} is empty; a {kind} was expected. Check the path, or fetch the file again."
    E914 = (
        "{path} is UTF-16: convert it to UTF-8, e.g. with `iconv -f UTF-16 -t UTF-8`, to read it."
    )
    E915 = "{path}: {reason}. {advice}"
    E916 = "{what} needs the package {package}: pip install 'spacy-angel[{extra}]'."
    # what users of scispaCy and spaCy look for
    E920 = (
        "A vocabulary has no semantic_type_tree. `concept.types` holds the types as strings, "
        "`kb.types` all of them; limit labels to types with the setting `types_by_label`, or a "
        "search with `kb.subset(types)`."
    )
    E921 = (
        "kb.add takes a Concept or several, `kb.add([Concept(…), Concept(…)])`, but it got "
        '{found!r}. Make one of it: `Concept("MY:1", "canonical name", ("alias",))`.'
    )


class Warnings(metaclass=_WithCodes):
    """Messages of warnings, likewise."""

    W101 = "The stored {what} is compiled anew. {error}"
    W102 = (
        "The {what} stays in memory, for it cannot be stored: {error} Every process makes it anew: "
        "copy the vocabulary or pipeline into a folder that can be written, to have it made once."
    )
    W103 = (
        "{n} of {n_all} names have no tokens in this model, which cannot find them. Where these "
        "are names in a script that it has not learned, give them others beside."
    )
    W104 = (
        "The added name {name!r} has no tokens in this model, which cannot find it. Add another "
        "name beside it."
    )
    W202 = (
        "{path}: no cell with {role} has {separator!r}, and {n:,} have {other!r}. Each cell was "
        "read as one. If it is what stands between several, give --option 'separator={other}'."
    )
    W201 = (
        "{path}, line {line}: the last line does not end with a line break, so the file may be cut "
        "there. It is read as it stands; compare it with the original, or end it with a line break."
    )
    W301 = (
        "A document has no span group {key!r}, so no mention of it is linked. Its groups: {found}. "
        "Correct span_key, or put the component that makes the group before the linker."
    )
    W302 = (
        "The exact search stopped at search.max_work={max_work} for {n} of {n_all} mentions: their "
        "candidates are not proven to be the best ones, or none was found. Raise it."
    )
    W303 = "angel_linker: this setting does nothing: {setting}. Remove it, or change the other one."
    W304 = (
        "{first!r} and {second!r} both write {shared} for the same labels: what the second finds "
        "stands there. Give them different `labels`, or one of them other attribute names."
    )
    W305 = (
        "The new vocabulary has none of the semantic types {unknown}, which angel_linker's setting "
        "types_by_label gives to {labels}: any concept may be theirs from now on. Set "
        "types_by_label for this vocabulary, and this is not said again."
    )
    W306 = (
        "{matcher} finds misspelled mentions by the names of a linker's vocabulary, and the "
        "pipeline has no angel_linker: it finds none. Take it out, too, and this is not said again."
    )
    W307 = (
        "This pipeline is of a version before the ranker: {old} no longer count, the ranker that "
        "ships does. Save it anew, and this is not said again."
    )
    W308 = (
        "Not calibrated: on documents that the fitted weights have not seen, the loss is "
        "{after:.4f} nats a mention, with those that there are {before:.4f}, which stay in use. "
        "Give more documents, or such as those that are to be linked."
    )
    W309 = (
        "angel_linker has other settings now: {changed}. The old ones are read up to the next "
        "release: use the new ones."
    )
    W321 = (
        "{matcher} looks for names that were added to the vocabulary (`kb.add`, `kb.add_names`), "
        "but there are none yet. For all of its names: config={{'names': 'all'}}."
    )
    W320 = (
        "{detector} stands behind {linker}, which reads the long forms that it finds "
        "(`reading.abbreviations`): no abbreviation is read as its long form. Add it before: "
        "`nlp.add_pipe(..., before={linker!r})`."
    )
    W330 = "{path}, line {number}, is left out: {problem}. Correct the row, or remove it."
    W331 = "{path}: {n:,} more rows are left out; `spacy-angel kb check` has all of them."
    W332 = (
        "{path}: {n:,} of {n_all:,} rules name a concept or type that the vocabulary does not "
        "have, the first on line {number} ({rule}). `spacy-angel kb check` says which."
    )
    W333 = "{path} cannot be read any more, so that its rules stay as they were. {error}"
    W401 = (
        "{format} has no place for {what}: it is left out of {path}, first of document {doc_id}. "
        "BioC JSON and DocBin keep it."
    )
    W601 = (
        "{path}, line {number}, is skipped, for it is not a correction: {problem}. Correct the "
        "line, or remove it."
    )
    W602 = (
        "A correction names an identifier that the vocabulary lacks, and is left out as far as it "
        "does: {correction}. Correct it, or add the concept to the vocabulary."
    )
    W603 = (
        "{dropped} examples need a longer decoder input than the model takes, and are left out; "
        "{kept} stay. Where these are many, shorten the definitions of the vocabulary."
    )
    W604 = "{path}: this setting does nothing: {setting}. Remove it, or change the other one."
    W605 = (
        "Row {row!r} is the same training as {first!r}: they differ in their pre-training, in "
        "place of which all begin with {start}. For the row itself, pre-train: leave out `--start` "
        "(`--vars.begin`)."
    )
    W801 = (
        "{path} was begun with {before} and is continued with {now}; scores may differ in the last "
        "place between its shards. To have all by one version, give a new folder."
    )
    W802 = (
        "{path} has damaged records ({names}), and what they recorded is done again. Look after "
        "the disk, if no one has edited the files."
    )
    W803 = (
        "{path} has {n} folders in it, which are not read ({names}). Name them as inputs, too, if "
        "there are documents in them."
    )
    W860 = (
        "Not one identifier of the label {label!r} is in the vocabulary: its {n:,} mentions are "
        "misses of the strict count. The first is {example!r}. Leave the label out (`--label` with "
        "the others), give a vocabulary that has it (`--kb`), or, where only a prefix is missing, "
        "say which (`--option prefix=…`)."
    )
    W890 = (
        "angel_linker: mentions labelled {label!r}{entity_type} are not linked, for "
        "types_by_label has "
        "only {known}, and no known spelling makes the label one of them. To link them, give it an "
        'entry with semantic types of the vocabulary, {label!r}: ["..."]; if they are to be left '
        "alone, put it into labels_discard."
    )
    W891 = (
        "angel_linker: more than {n} labels are not linked; further ones are not named. Where any "
        "text may be a label, `labels` names those that are linked."
    )
    W901 = (
        "The {kind} format of another package, {entry}, cannot be loaded: {error}. It is left out; "
        "correct or remove that package."
    )


class AngelWarning(UserWarning):
    """A warning of this package, so that its warnings can be filtered by category."""


def cannot_read(path: object, error: object) -> str:
    """RETURNS (str): message for a file or folder that is missing or cannot be read."""
    return f"{path} cannot be read: {error}."


def unknown_name(kind: str, name: object, known: str) -> str:
    """RETURNS (str): message for a name that is none of the known ones."""
    return f"There is no {kind} {name!r}. Known: {known}."


def missing_package(what: str, package: str, extra: str) -> str:
    """RETURNS (str): message for a package that an extra installs."""
    return f"{what} needs the package {package}: pip install 'spacy-angel[{extra}]'."
