// Package pki creates a lab's certificates.
//
// Each start of a lab creates three certificate authorities: one for the cluster (API server,
// kubelet server, telemetry, users), one for etcd and one for the front proxy, so that a client of
// one is not accepted by another. Keys have mode 0600 in a directory of mode 0700. Of the CA keys
// only the cluster's is written; the controller manager signs with it.
//
// The package never reads or trusts certificates of the machine.
package pki
