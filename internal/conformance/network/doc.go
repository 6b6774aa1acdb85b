// Package network is the requirement high_performance_networking: the network devices
// that fast communication between pods needs are exposed, described and given out.
//
// It sees which network devices nodes offer, through DRA with their attributes and as
// extended resources, and tries one: a pod that asks for one runs, and one that asks for
// more than any node has is refused.
//
// Invariants: the requirement wants DRA, so that a counted resource alone is a part of
// it. A site without a fabric between nodes needs none (Exempt).
package network
