# Each pod starts the ranks of its node with torchrun. Node ranks are the pods'
# indices, so that a rank's node is known before it says anything; each line is
# labelled with its global rank.
export TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE='[rank${rank}]:'
export PYTHONUNBUFFERED=1
cd "${TORCHTITAN_HOME:-/opt/torchtitan}"
config="${CONFIG_FILE:-$(find . -name "$MODEL.toml" -path '*train_configs*' | head -n 1)}"
[ -n "$config" ] || { echo "no train config $MODEL.toml in $PWD" >&2; exit 1; }
exec torchrun --nnodes="$NNODES" --nproc-per-node="$GPUS_PER_NODE" --node-rank="$JOB_COMPLETION_INDEX" \
  --master-addr="$JOB_NAME-0.$JOB_NAME" --master-port=29500 --role rank --tee 3 \
  -m torchtitan.train --job.config_file "$config" \
  --training.steps "$STEPS" --metrics.log_freq 1 --metrics.disable_color_printing
