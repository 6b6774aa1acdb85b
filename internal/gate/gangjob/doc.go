// Package gangjob runs one gang of pods for a gate and returns each pod's outcome and the
// selected logs. Gates 6 and 7 share it.
//
// Invariants: the gang is deleted before Run returns, also after the context has ended; a
// failed wait has a reason. It does not parse logs and does not judge.
package gangjob
