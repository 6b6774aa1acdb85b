// Package trainer parses the logs of training jobs:
//
//   - Megatron-LM: iteration lines, usually printed by the last rank only, and the
//     straggler report of --log-straggler;
//   - torchtitan: metric lines by rank with step, loss, tokens per second, TFLOPS and
//     the MFU that torchtitan computes from its own peak (that of an A100 for a GPU
//     unknown to it);
//   - torchrun and the NCCL process group of PyTorch: the collective watchdog, failed
//     workers, rendezvous timeouts, out of memory;
//   - the single-GPU measurement of the training gate
//     (internal/gate/training/gpus.py).
//
// A field that a line does not have is nil: older versions print no TFLOPS,
// throughput requires --log-throughput, FP8 runs print "mfu: N/A". A loss that is not
// finite is nil, with its text. Input is bounded. No parser panics, and no parser
// judges what it reads.
package trainer
