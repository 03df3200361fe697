"""`spacy-angel train pretrain`, for project.yml and launchers of several processes."""

import sys

from spacy_angel.cli.app import app

if __name__ == "__main__":
    app(["train", "pretrain", *sys.argv[1:]])
