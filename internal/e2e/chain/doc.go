// Package chain proves the autoscaling chain end to end, with the built binary as its
// users run it, on labs of its own.
package chain
