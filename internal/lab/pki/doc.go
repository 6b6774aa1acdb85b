// Package pki makes a lab's certificates.
//
// A lab has three certificate authorities of its own, made at each start and
// known nowhere else: one for the cluster (API server, kubelet side,
// telemetry, users), one for etcd, and one for the front proxy, so that no
// client of one can pass for a client of another. Keys are on disk with mode
// 0600 in a directory of mode 0700; authorities' keys are not written at all
// but for the cluster's, which the controller manager signs with.
//
// It never reads or trusts anything of the machine's.
package pki
