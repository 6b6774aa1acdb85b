// Package ibstat reads what ibstat prints: the host channel adapters of one
// host and the state of their ports.
//
// Invariants: a port is whole or the input is an error; GUIDs come out as 0x
// and sixteen lower-case digits; nothing panics. It judges no state.
package ibstat
