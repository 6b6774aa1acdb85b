// Package world is the simulated hardware below the kubelet: GPU nodes, their
// GPUs and HCAs, the fabric between them and the building around them, with
// faults that can be put into it on purpose.
//
// A World owns three things that change: the active faults, which pods occupy
// which GPUs, and its clock. State is a pure function of those and the Spec, and
// every State is a snapshot of its own that nothing alters afterwards. What
// reaches the world from outside (shells, exporters, logs) prints a State; it
// never keeps figures of its own.
//
// Clearing a fault is a repair: what it left behind (counters, log lines,
// remapped rows) goes with it.
//
// The package never imports anything that checks.
package world
