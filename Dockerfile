# The web service from wheels of the checkout: `make wheel`, then `docker build .`.
FROM python:3.11-slim

# hnswlib and nmslib, which scispaCy asks for, may have to be compiled.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends g++ \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home angel

COPY constraints.txt dist/*.whl /tmp/install/
# torch first and by version, without CUDA; see constraints.txt.
RUN cd /tmp/install \
    && pip install --no-cache-dir --extra-index-url https://download.pytorch.org/whl/cpu \
        -c constraints.txt "$(grep '^torch==' constraints.txt)" \
    && wheel=$(ls spacy_angel-*.whl) \
    && pip install --no-cache-dir -c constraints.txt "$wheel[serve,mcp]" en_angel_*.whl \
    && rm -rf /tmp/install

USER angel
# Compiled here, so that the first start is as fast as the next ones.
RUN spacy-angel link "She had a heart attack." && spacy-angel serve --openapi > /dev/null

ENV HF_HUB_OFFLINE=1
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --start-period=60s CMD ["python", "-c", \
    "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/health', timeout=5)"]
ENTRYPOINT ["spacy-angel", "serve", "--host", "0.0.0.0", "--token-file", "/run/secrets/token"]
