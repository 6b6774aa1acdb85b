// Package lab runs a Kubernetes control plane on one machine: etcd, kube-apiserver,
// kube-controller-manager, kube-scheduler, kwok, Prometheus, Alertmanager and prometheus-adapter
// as supervised child processes. All are unmodified upstream programs. Extras are added on
// request: Karpenter, the KAI scheduler, Kubeflow Trainer with JobSet, the MPI Operator. It needs
// neither Docker nor root. The caller brings the world, which simulates everything below the
// kubelet.
//
// The package owns the lab's directory (certificates, configuration, data, logs, kubeconfig), its
// loopback subnet and ports, its processes and their order.
//
// Invariants:
//   - Ready means that every component's health endpoint answered and that a canary pod was
//     scheduled and reported Running.
//   - Every component listens on loopback and requires a certificate of this lab, with two
//     exceptions that the programs do not support: kwok's kubelet server and the health and
//     metrics ports of the extras. Karpenter and the MPI Operator listen on all addresses.
//   - No process outlives the lab: processes die with their supervisor, and Down kills what a
//     dead supervisor recorded, by PID and start time.
//   - Two labs share nothing. The MPI Operator has a fixed port, so only one lab at a time can
//     have it.
//
// The package never reads or writes the user's kubeconfig and judges nothing; no gate imports it.
//
// Environment: FIRSTLIGHT_HOME, XDG_STATE_HOME. Linux only: it relies on /proc, on parent-death
// signals and on 127.0.0.0/8 being loopback.
package lab
