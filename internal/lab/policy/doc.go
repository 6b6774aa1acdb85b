// Package policy puts faults into the way of objects that firstlight itself
// creates: MutatingAdmissionPolicies of the API server, as a cluster's own
// policy engine would have them. Which is which is data, one file a policy.
//
// Invariants: a policy chooses objects by firstlight's labels and no others;
// Set returns only when the API server applies what is wanted, which it shows
// on a sample that is sent to it and not kept.
package policy
