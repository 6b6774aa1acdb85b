#!/usr/bin/env bash
# The tests of SSH run OpenSSH's server and sudo, those of the fabric OpenSM and ibsim, those of Slurm its daemons,
# those of playbooks Ansible, and those of collectives mpirun (docs/testing.md). Installs their packages as root on Debian or Ubuntu. A service
# that a package starts is not wanted; without the programs these tests are skipped with the reason.
# Arguments replace the required programs, for the script's own test.
set -euo pipefail

if [[ $# = 0 ]]; then
  set -- /usr/sbin/{sshd,opensm,iblinkinfo,slurmctld,slurmd,slurmdbd,munged,mariadbd} /usr/bin/{sudo,ssh-agent,ibsim,ansible-galaxy,mpirun}
fi
missing=
for p in "$@"; do
  [[ -x $p ]] || missing+=" $p"
done
if [[ ! $missing ]]; then exit; fi
if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
  echo "missing:$missing, and this is not root on Debian or Ubuntu: their tests will be skipped"
  exit
fi
export DEBIAN_FRONTEND=noninteractive
policy=/usr/sbin/policy-rc.d made=
if [[ ! -e $policy ]]; then
  printf '#!/bin/sh\nexit 101\n' >$policy && chmod 755 $policy && made=yes
fi
{ apt-get update -q && apt-get install -q -y --no-install-recommends openssh-server openssh-client sudo ibsim-utils opensm infiniband-diags slurm-wlm slurmdbd munge mariadb-server ansible openmpi-bin; } ||
  echo "cannot install$missing: their tests will be skipped"
if [[ $made ]]; then rm -f $policy; fi
