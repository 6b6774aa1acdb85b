# One server on all GPUs of the pod. It is up when /health answers.
exec vllm serve "$MODEL" --port "${PORT:-8000}" --max-model-len "$MAX_MODEL_LEN" --tensor-parallel-size "$TP"
