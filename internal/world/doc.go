// Package world simulates the hardware below the kubelet: GPU nodes, their GPUs and HCAs, the
// fabric, the facility, and faults that can be injected.
//
// A World has three mutable parts: active faults, GPU occupancy and its clock. State is a pure
// function of these and the Spec, and each State is an immutable snapshot. Everything visible from
// outside (shells, exporters, logs) prints a State and keeps no figures of its own.
//
// Clearing a fault is a repair: its traces (counters, log lines, remapped rows) are removed too.
//
// The package never imports a package that checks.
package world
