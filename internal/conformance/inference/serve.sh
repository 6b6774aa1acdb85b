# A small model, on one GPU, under a name of its own.
exec vllm serve "$MODEL" --served-model-name "$SERVED_MODEL_NAME" --port 8000 --max-model-len "$MAX_MODEL_LEN" --tensor-parallel-size "$TP"
