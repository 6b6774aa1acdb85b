// Package megatron reads Megatron-LM's training log: its iteration lines, which
// usually only the last rank prints, and the straggler report of
// --log-straggler, which names the slowest and fastest ranks.
//
// What a line does not have is nil (throughput needs --log-throughput). A loss
// that is no finite number is nil, with its text. Input is bounded, nothing
// panics, nothing is judged.
package megatron
