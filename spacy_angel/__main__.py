"""`python -m spacy_angel`: the command line."""

from .cli.app import app

if __name__ == "__main__":
    app(prog_name="spacy-angel")
