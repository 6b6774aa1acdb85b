// Package redfish is the management controller of the simulated racks: HTTPS on
// loopback with a certificate of its own authority, a generated password, and
// the resources that a Redfish client needs to read the chassis' power and
// temperatures and the rack PDUs' state.
//
// Every answer is computed from the world's State at that moment; nothing can be
// written through it but a session.
package redfish
