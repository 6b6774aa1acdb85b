# Each pod starts the ranks of its node with torchrun. Node ranks are the pods'
# indices, so that a rank's node is known before it says anything; each line is
# labelled with its global rank. The model's arguments are a file of the image.
export TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE='[rank${rank}]:'
export PYTHONUNBUFFERED=1 CUDA_DEVICE_MAX_CONNECTIONS=1
cd "${MEGATRON_HOME:-/opt/megatron-lm}"
arguments="${MODEL_ARGUMENTS:-models/$MODEL.args}"
[ -r "$arguments" ] || { echo "no arguments of model $MODEL in $PWD/$arguments" >&2; exit 1; }
hosts="${HOSTS:-$JOB_NAME-0.$JOB_NAME}" # kinds other than Job have other names
# Megatron prints on its first and last rank alone. Each rank begins with a line that shows that it runs, and since when.
begins='echo "firstlight: rank $RANK of $WORLD_SIZE begins, datetime: $(date -u "+%F %T")"; exec "${PYTHON_EXEC:-python3}" -u "$@"'
# shellcheck disable=SC2046 # the file holds words
exec torchrun --nnodes="$NNODES" --nproc-per-node="$GPUS_PER_NODE" --node-rank="$JOB_COMPLETION_INDEX" \
  --master-addr="${hosts%% *}" --master-port=29500 --role rank --tee 3 --no-python \
  bash -c "$begins" bash pretrain_gpt.py $(cat "$arguments") --train-iters "$STEPS" \
  --log-interval 1 --log-throughput --log-straggler
