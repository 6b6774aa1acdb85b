// Package torchrun reads what PyTorch's launcher and its NCCL process group say
// when a distributed job goes wrong: the watchdog of a collective that hangs,
// workers that failed, a rendezvous that did not come about, memory that ran
// out. It reads any framework's log, and judges nothing.
package torchrun
