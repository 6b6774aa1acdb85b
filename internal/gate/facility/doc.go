// Package facility is gate 1: the room is signed off, its budgets cover the demand of the
// inventory, and every PDU that the site names is energised.
//
// The sign-off is an attestation by a person: the gate judges that it is present, complete
// and unexpired at the time of the observation.
package facility
