# One server on all GPUs of the pod or job. It is up when /health answers. In a job the ports are those of the node: the
# server listens on LISTEN, and lists SERVER_NAME after its model.
exec vllm serve "$MODEL" ${LISTEN:+--host "$LISTEN"} --port "${PORT:-8000}" --max-model-len "$MAX_MODEL_LEN" --tensor-parallel-size "$TP" ${SERVER_NAME:+--served-model-name "$MODEL" "$SERVER_NAME"}
