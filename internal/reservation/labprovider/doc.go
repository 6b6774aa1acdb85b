// Package labprovider is the hook of a cloud that is this machine: each deployment is a
// lab of its own, with its own control plane, really started and really ended.
//
// It owns a directory with a record of each deployment and the highest token that it has
// seen of each reservation. A record is on the disk before its lab is started and until its
// lab is gone, with its directory: killed between two steps, the same call again goes on
// where it stopped, and discover finds what stands.
//
// Invariants:
//   - A provision or a teardown of a lower token than was seen is refused.
//   - A reservation has room for one deployment: a second one is refused, as a cloud refuses
//     it that has no capacity left.
//   - What changes something of a reservation is done by one process at a time.
//
// It ends only processes of labs that it has a record of.
//
// Environment: FIRSTLIGHT_HOME, XDG_STATE_HOME (see package lab).
package labprovider
