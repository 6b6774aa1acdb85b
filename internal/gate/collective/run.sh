# Every pod runs an SSH server; index 0 runs mpirun over all of them, and the
# others end when it has ended. The exit code of index 0 is mpirun's.
echo 'firstlight: beginning of the log'
port=2222
mkdir -p ~/.ssh /run/sshd
chmod 700 ~/.ssh
base64 -d <<<"$SSH_IDENTITY" >~/.ssh/id_ed25519
chmod 600 ~/.ssh/id_ed25519
ssh-keygen -y -f ~/.ssh/id_ed25519 >~/.ssh/authorized_keys
ssh-keygen -A >/dev/null
printf '%s\n' "PATH=$PATH" ${LD_LIBRARY_PATH+"LD_LIBRARY_PATH=$LD_LIBRARY_PATH"} >~/.ssh/environment
/usr/sbin/sshd -p "$port" -o StrictModes=no -o PermitUserEnvironment=yes -o PasswordAuthentication=no

read -ra hosts <<<"${HOSTS:-}" # kinds other than Job have other names
host() { echo "${hosts[$1]:-$JOB_NAME-$1.$JOB_NAME}"; }
reach=(-p "$port" -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o ConnectTimeout=5)

if [ "$JOB_COMPLETION_INDEX" != 0 ]; then
  until [ -e /tmp/done ]; do sleep 1; done
  exit 0
fi

# A worker whose release fails once, as by a lost answer of DNS, would hold its GPUs until the timeout. Rounds over those that
# are left release all others before a node that does not answer. No round begins after half a minute: rounds over many nodes that
# do not answer would last longer than the gate waits, which would report a hang instead of the exit code of mpirun.
release() {
  local left missed end=$((SECONDS + 30))
  read -ra left <<<"$(seq -s ' ' 1 $((NNODES - 1)))"
  while :; do
    missed=()
    for i in "${left[@]}"; do ssh "${reach[@]}" "$(host "$i")" touch /tmp/done || missed+=("$i"); done
    left=("${missed[@]}")
    [ "${#left[@]}" != 0 ] && ((SECONDS < end)) || return 0
    sleep 1
  done
}
trap release EXIT
for i in $(seq 0 $((NNODES - 1))); do
  until ssh "${reach[@]}" "$(host "$i")" true; do sleep 1; done
  echo "$(host "$i") slots=$GPUS_PER_NODE"
done >/tmp/hosts

# Sessions of sshd have nothing else of a pod's environment. The variables of NCCL, its
# plugins and the libraries below them are passed to every rank.
unset NCCL_DEBUG_FILE # its output belongs in the log
environment=(-x PATH ${LD_LIBRARY_PATH+-x LD_LIBRARY_PATH})
for name in "${!NCCL_@}" "${!OFI_@}" "${!FI_@}" "${!UCX_@}" "${!UCC_@}" "${!SHARP_@}" \
  "${!RDMAV_@}" "${!IBV_@}" "${!MLX5_@}" "${!CUDA_@}"; do
  case "$name" in
    NCCL_HOSTID | CUDA_VISIBLE_DEVICES) ;; # of this node alone
    *) environment+=(-x "$name") ;;
  esac
done

# Open MPI 4 cuts names at their first dot, and only the whole name of a pod has a DNS record. Open MPI 5 does not need the variable.
export OMPI_MCA_orte_keep_fqdn_hostnames=1

# mpirun forwards the output of a rank in pieces of 4096 bytes, which end anywhere in a line. With labels of Open MPI 4 the gate joins
# the pieces again. Open MPI 5.0 puts the end of a piece behind the label of another rank.
pieces=()
if [[ "$(mpirun --version)" == *' 4.'* ]]; then pieces=(--tag-output); fi

for _ in $(seq "$REPETITIONS"); do
  mpirun --allow-run-as-root "${pieces[@]}" -np $((NNODES * GPUS_PER_NODE)) --hostfile /tmp/hosts \
    --map-by "ppr:$GPUS_PER_NODE:node" --mca plm_rsh_args "${reach[*]}" "${environment[@]}" \
    all_reduce_perf -b "$MIN_BYTES" -e "$MAX_BYTES" -f 2 -g 1
done
