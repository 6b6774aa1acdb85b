// Package policy implements faults that change objects which firstlight creates, with
// MutatingAdmissionPolicies of the API server, as a cluster's policy engine would. Policies are
// data, one file each.
//
// Invariants: a policy selects objects by firstlight's labels only; Set returns when the API
// server applies the wanted policies, verified by dry-running a sample.
package policy
