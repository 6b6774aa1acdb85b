// Package xid reads the errors of the NVIDIA driver and of the NVSwitches out of
// a kernel log: "NVRM: Xid" and "SXid" lines, as dmesg prints them.
//
// Invariants: a line that speaks of an Xid and can't be read is an error, never
// passed over; equal events are counted, so the result is bounded; nothing
// panics. What a code means is the profile's.
package xid
