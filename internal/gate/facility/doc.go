// Package facility is gate 1: the room is signed off, it provides what the
// inventory demands, and every PDU that the site names is energised.
//
// The sign-off is an attestation by a person: the gate judges that it is there,
// whole and unexpired at the time it was looked at, and keeps it as evidence.
package facility
