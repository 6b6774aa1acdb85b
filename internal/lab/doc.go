// Package lab runs a whole Kubernetes control plane on one machine: etcd,
// kube-apiserver, kube-controller-manager, kube-scheduler, kwok, Prometheus,
// Alertmanager and prometheus-adapter, unmodified upstream programs, as
// supervised child processes; and, when they are asked for, extras: Karpenter,
// the KAI scheduler, Kubeflow Trainer with JobSet, the MPI Operator. No Docker,
// no root. What is below the kubelet is the world's, which the caller brings.
//
// It owns: the lab's directory (certificates, configuration, data, logs,
// kubeconfig), its loopback subnet and ports, its processes, and their order.
//
// Invariants:
//   - Ready means that every component answered its health endpoint and a
//     canary pod was scheduled and reported Running.
//   - Everything listens on loopback and demands a certificate of this lab,
//     where the program can (kwok's kubelet side cannot demand one, nor can the
//     extras' health and metrics; Karpenter's and the MPI Operator's are on every
//     address).
//   - Nothing outlives the lab: its processes die with their supervisor, and
//     Down ends what a dead supervisor recorded, by id and start time.
//   - Two labs share nothing; the MPI Operator needs a port that only one of them
//     can have.
//
// It never reads or writes the user's kubeconfig, and judges nothing: no gate
// knows of it.
//
// Environment: FIRSTLIGHT_HOME, XDG_STATE_HOME. Linux only: it relies on /proc,
// on parent-death signals and on 127.0.0.0/8 being loopback.
package lab
