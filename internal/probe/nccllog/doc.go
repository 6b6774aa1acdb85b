// Package nccllog reads what NCCL writes with NCCL_DEBUG=INFO: which devices
// each host offers, over which transport every channel runs and whether with
// GPUDirect RDMA, whether NVLink SHARP is there on every GPU, and which ranks
// finished initialising.
//
// Bootstrap and out-of-band lines name the management network on every healthy
// cluster; they are left alone. The same rank's lines from several runs in one
// log are folded together, the worse value winning.
//
// Invariants: input is bounded, nothing panics, nothing is judged here.
package nccllog
