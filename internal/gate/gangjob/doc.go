// Package gangjob runs one gang of pods for a gate and brings home how it went:
// each pod's outcome, and the logs asked for. Gates 6 and 7 share it.
//
// Invariants: whatever happens, also when the context ends, the gang is deleted
// before Run returns; a wait without its event comes back with the reason. It
// parses and judges nothing.
package gangjob
