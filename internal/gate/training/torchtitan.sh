# Each pod starts the ranks of its node with torchrun. Node ranks are the pods'
# indices, so that a rank's node is known before it says anything; each line is
# labelled with its global rank.
export TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE='[rank${rank}]:'
export PYTHONUNBUFFERED=1
cd "${TORCHTITAN_HOME:-/opt/torchtitan}"
# The configuration of a model is a TOML file up to release 0.2, and a function of a Python module
# since pull request 2386 (testdata/flags.yaml has the options of both).
registry=$(grep -l "^def $MODEL(" torchtitan/models/*/config_registry.py 2>/dev/null | head -n 1 || true)
file="${CONFIG_FILE:-$(find . -name "$MODEL.toml" -path '*train_configs*' | head -n 1)}"
if [ -n "$registry" ]; then
  configuration=(--module "$(basename "$(dirname "$registry")")" --config "$MODEL")
elif [ -n "$file" ]; then
  configuration=(--job.config_file "$file")
else
  echo "torchtitan in $PWD has no configuration $MODEL: neither a function in a config_registry.py nor a file $MODEL.toml in train_configs" >&2
  exit 1
fi
hosts="${HOSTS:-$JOB_NAME-0.$JOB_NAME}" # kinds other than Job have other names
exec torchrun --nnodes="$NNODES" --nproc-per-node="$GPUS_PER_NODE" --node-rank="$JOB_COMPLETION_INDEX" \
  --master-addr="${hosts%% *}" --master-port=29500 --role rank --tee 3 \
  -m torchtitan.train "${configuration[@]}" --training.steps "$STEPS" --metrics.log_freq 1
